import * as z from 'zod'
import { ServiceError } from '#lib/errors.ts'
import { maskStorage } from '#lib/objects/port/connection.ts'
import { CatalogManifest } from '#lib/catalog/manifest-schema.ts'
import type { Architecture } from '#lib/catalog/identifiers.ts'
import { findProviderType } from '#lib/objects/port/provider-kinds.ts'
import { applyRegistration } from '#lib/catalog/register.ts'
import { bodyLimit } from '#lib/catalog/schemas.ts'
import { emptyContents } from '#lib/catalog/contents.ts'
import { toViewFields } from '#lib/catalog/view.ts'
import type { RemoteManifest } from './manifest-replies.ts'

/** What stands in messages: nothing that a terminal or a log would act upon. */
const Name = z
  .string()
  .min(1)
  .max(1_000)
  .regex(/^\P{C}*$/u)

const RemoteFields = CatalogManifest.extend({ name: Name, catalog_id: Name, version: Name })

interface RequestedManifest {
  readonly catalog_id: string
  readonly version: string
  readonly architecture: Architecture
}

/**
 * A manifest of another service as this one has them, for it is kept and shown. What of it is not as it should be counts as
 * not there, and then is what was asked for. Throws `upstream` for one that is larger than any of this service.
 */
export const normalizeRemoteManifest = (
  found: RemoteManifest,
  { catalog_id, version, architecture }: RequestedManifest,
): CatalogManifest => {
  if (JSON.stringify(found).length > bodyLimit)
    throw new ServiceError('upstream', 'The manifest of the other catalog is too large to be one.')
  const blank = toViewFields(
    applyRegistration({ catalog_id, version, architecture, tags: [] }, undefined, { at: new Date().toISOString() }),
  )
  const fitting = Object.entries(RemoteFields.shape).flatMap(([key, schema]) => {
    const { success, data } = schema.safeParse(found[key])
    return success && data !== undefined ? [[key, data]] : []
  })
  const told: CatalogManifest = { ...blank, ...emptyContents, tags: [], ...Object.fromEntries(fitting) }
  // Some services hand out what opens their storage: for us, and not to be passed on.
  const type = findProviderType(told.provider.type)
  return { ...told, provider: type ? { ...maskStorage({ type, meta: told.provider.meta }) } : { type: '', meta: {} } }
}
