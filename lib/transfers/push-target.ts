import type { CatalogManifest, StoredManifest } from '#lib/catalog/manifest-schema.ts'
import type { RegisterManifest } from '#lib/catalog/schemas.ts'
import { ServiceError } from '#lib/errors.ts'
import type { PushManifest } from './schemas.ts'

type ManifestVersion = Pick<RegisterManifest, 'catalog_id' | 'version'>

/** The manifest that a catalog already has for what is pushed. */
export interface ExistingManifest {
  /** Undefined when another catalog does not say it. */
  readonly id?: string | undefined
  readonly pack_filename: string
  readonly pack_sha256: string
  readonly revoked: boolean
  /** The record, if the catalog is that of this service. */
  readonly record?: StoredManifest
}

/** The catalog in which a push registers its manifest. */
export interface PushTarget {
  /** The id of the manifest if it is new, when the catalog has chosen one already. */
  readonly newId?: string
  /** Finds the manifest that the catalog already has. Throws `conflict` for one that the caller may not see. */
  findExisting(
    manifest: ManifestVersion,
    architecture: string,
    signal: AbortSignal,
  ): Promise<ExistingManifest | undefined>
  /** Says whether an object belongs to a manifest that the caller may not see, so that nothing may overwrite it. */
  isHidden(path: string): Promise<boolean>
  /** Called before anything is written. Throws `forbidden` when the push would overwrite what the caller may not see. */
  check(registration: RegisterManifest, existing: ExistingManifest | undefined): Promise<void>
  register(registration: RegisterManifest, signal: AbortSignal): Promise<CatalogManifest>
  /** Returns a function that says whether a manifest with another id owns an object, so that the push may not delete it. */
  createOwnerCheck(manifest: Pick<StoredManifest, 'id'>): Promise<(path: string) => Promise<boolean>>
}

interface Replacement {
  readonly request: Pick<PushManifest, 'catalog_id' | 'version' | 'override_existing'>
  readonly architecture: string
  /** The name of the manifest. */
  readonly name: string
  /** Whether the push itself has registered the manifest, before the service was killed. */
  readonly isOwn: (existing: ExistingManifest) => boolean
  readonly signal: AbortSignal
}

/** Finds the manifest that a push replaces. Throws `conflict` for one that was revoked, and for one that it may not replace. */
export const findReplaceable = async (
  target: PushTarget,
  { request, architecture, name, isOwn, signal }: Replacement,
): Promise<ExistingManifest | undefined> => {
  const existing = await target.findExisting(request, architecture, signal)
  if (existing?.revoked)
    throw new ServiceError('conflict', `${name} was revoked, and stays so. Push the machine as another version.`)
  if (existing && !isOwn(existing) && request.override_existing === false)
    throw new ServiceError('conflict', `The catalog has ${name} already, and the push is not to replace it.`)
  return existing
}
