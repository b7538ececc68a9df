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

/** A name that is shown in messages, so it has no control characters that a terminal or a log would interpret. */
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
 * Converts a manifest of another service to the format of this one, because it is stored and shown here. Members that do not
 * fit the format are replaced by those that were requested, or by defaults. Throws `upstream` for a manifest that is larger
 * than any of this service.
 */
export const normalizeRemoteManifest = (
  manifest: RemoteManifest,
  { catalog_id, version, architecture }: RequestedManifest,
): CatalogManifest => {
  if (JSON.stringify(manifest).length > bodyLimit)
    throw new ServiceError('upstream', 'The manifest of the other catalog is too large.')
  const defaults = toViewFields(
    applyRegistration({ catalog_id, version, architecture, tags: [] }, undefined, { at: new Date().toISOString() }),
  )
  const validFields = Object.entries(RemoteFields.shape).flatMap(([key, schema]) => {
    const { success, data } = schema.safeParse(manifest[key])
    return success && data !== undefined ? [[key, data]] : []
  })
  const normalized: CatalogManifest = {
    ...defaults,
    ...emptyContents,
    tags: [],
    ...Object.fromEntries(validFields),
  }
  // Some services send the secrets of their storage. This service may use them, but does not show them.
  const { meta } = normalized.provider
  const type = findProviderType(normalized.provider.type)
  return { ...normalized, provider: type ? { ...maskStorage({ type, meta }) } : { type: '', meta: {} } }
}
