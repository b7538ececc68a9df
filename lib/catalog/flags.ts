import { ServiceError } from '#lib/errors.ts'
import type { StoredManifest } from './manifest-schema.ts'

/** Changes a flag of a manifest; `by` is the user name and `at` the time. Throws if the manifest's flags do not allow it. */
export type FlagChange = (manifest: StoredManifest, by: string, at: string) => StoredManifest

const refuseRevoked = ({ name, revoked }: StoredManifest): void => {
  if (revoked) throw new ServiceError('forbidden', `The manifest ${name} is revoked permanently.`)
}

/** Throws `invalid` for a tainted manifest and `forbidden` for a revoked one: nobody can get its pack. */
export const assertUsable = (manifest: StoredManifest): void => {
  refuseRevoked(manifest)
  if (manifest.tainted)
    throw new ServiceError(
      'invalid',
      `The manifest ${manifest.name} is tainted: nobody can use it until it is untainted.`,
    )
}

export const taint: FlagChange = (manifest, by, at) => {
  refuseRevoked(manifest)
  if (manifest.tainted) throw new ServiceError('invalid', `The manifest ${manifest.name} is already tainted.`)
  return { ...manifest, tainted: true, tainted_at: at, tainted_by: by }
}

export const untaint: FlagChange = (manifest, by) => {
  refuseRevoked(manifest)
  if (!manifest.tainted) throw new ServiceError('invalid', `The manifest ${manifest.name} is not tainted.`)
  const { tainted_at: _, ...rest } = manifest
  return { ...rest, tainted: false, tainted_by: '', untainted_by: by }
}

export const revoke: FlagChange = (manifest, by, at) => {
  if (manifest.revoked) throw new ServiceError('forbidden', `The manifest ${manifest.name} is already revoked.`)
  return { ...manifest, revoked: true, revoked_at: at, revoked_by: by }
}
