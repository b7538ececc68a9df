import { ServiceError } from '#lib/errors.ts'
import type { StoredManifest } from './manifest-schema.ts'

/** A change of a manifest by somebody, at a time. Throws where the manifest is not in a state for it. */
export type Mark = (manifest: StoredManifest, by: string, at: string) => StoredManifest

const named = ({ name }: StoredManifest): string => `The manifest ${name}`

const refuseRevoked = (manifest: StoredManifest): void => {
  if (manifest.revoked) throw new ServiceError('forbidden', `${named(manifest)} is revoked, for good.`)
}

/** Throws `invalid` for a tainted manifest and `forbidden` for a revoked one: nobody gets its pack. */
export const refuseMarked = (manifest: StoredManifest): void => {
  refuseRevoked(manifest)
  if (manifest.tainted)
    throw new ServiceError('invalid', `${named(manifest)} is tainted: it is not to be used until it is untainted.`)
}

export const taint: Mark = (manifest, by, at) => {
  refuseRevoked(manifest)
  if (manifest.tainted) throw new ServiceError('invalid', `${named(manifest)} is tainted already.`)
  return { ...manifest, tainted: true, tainted_at: at, tainted_by: by }
}

export const untaint: Mark = (manifest, by) => {
  refuseRevoked(manifest)
  if (!manifest.tainted) throw new ServiceError('invalid', `${named(manifest)} is not tainted.`)
  const { tainted_at: _, ...rest } = manifest
  return { ...rest, tainted: false, tainted_by: '', untainted_by: by }
}

export const revoke: Mark = (manifest, by, at) => {
  if (manifest.revoked) throw new ServiceError('forbidden', `${named(manifest)} is revoked already.`)
  return { ...manifest, revoked: true, revoked_at: at, revoked_by: by }
}
