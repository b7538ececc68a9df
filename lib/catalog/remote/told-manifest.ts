import * as z from 'zod'
import { ServiceError } from '#lib/errors.ts'
import { maskStorage } from '../connection.ts'
import { CatalogManifest } from '../manifest.ts'
import type { Architecture } from '../names.ts'
import { providerTypeOf } from '../provider-types.ts'
import { registeredManifest } from '../register.ts'
import { bodyLimit } from '../requests.ts'
import { shownManifest } from '../shown.ts'
import type { Manifest } from './manifests.ts'

/** What stands in messages: nothing that a terminal or a log would act upon. */
const Name = z
  .string()
  .min(1)
  .max(1_000)
  .regex(/^\P{C}*$/u)

const Told = CatalogManifest.extend({ name: Name, catalog_id: Name, version: Name })

interface Asked {
  readonly catalog_id: string
  readonly version: string
  readonly architecture: Architecture
}

/**
 * A manifest of another service as this one has them, for it is kept and shown. What of it is not as it should be counts as
 * not there, and then is what was asked for. Throws `upstream` for one that is larger than any of this service.
 */
export const toldManifest = (found: Manifest, { catalog_id, version, architecture }: Asked): CatalogManifest => {
  if (JSON.stringify(found).length > bodyLimit)
    throw new ServiceError('upstream', 'The manifest of the other catalog is too large to be one.')
  const blank = shownManifest(registeredManifest({ catalog_id, version, architecture, tags: [] }, undefined))
  const fitting = Object.entries(Told.shape).flatMap(([key, schema]) => {
    const { success, data } = schema.safeParse(found[key])
    return success && data !== undefined ? [[key, data]] : []
  })
  const told: CatalogManifest = { ...blank, tags: [], ...Object.fromEntries(fitting) }
  // Some services hand out what opens their storage: for us, and not to be passed on.
  const type = providerTypeOf(told.provider.type)
  return { ...told, provider: type ? { ...maskStorage({ type, meta: told.provider.meta }) } : { type: '', meta: {} } }
}
