import { ServiceError } from '#lib/errors.ts'

/** Throws `conflict` when the SHA-256 of the bytes of a write is not the expected one; any is right when none is expected. */
export const checkDigest = (path: string, sha256: string, expected: string | undefined): void => {
  if (expected !== undefined && sha256 !== expected)
    throw new ServiceError('conflict', `The bytes of ${path} are not those that their SHA-256 says.`)
}
