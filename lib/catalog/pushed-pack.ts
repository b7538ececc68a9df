import { ServiceError } from '#lib/errors.ts'
import { sidecarSuffix } from './manifest-objects.ts'
import { maxSidecarSize, parseSidecar, type Sidecar } from '#lib/packs/sidecar.ts'
import { readBytes } from '#lib/async/read-bytes.ts'
import type { Provider } from '#lib/objects/port/provider.ts'

/** Reads the sidecar of a pack; undefined when there is none, or when it is not valid. */
const readSidecar = async (
  provider: Provider,
  packPath: string,
  signal?: AbortSignal,
): Promise<Sidecar | undefined> => {
  const path = packPath + sidecarSuffix
  if (!(await provider.stat(path, signal))) return undefined
  const tooLarge = new ServiceError('upstream', `${path} is too large for a sidecar.`)
  const stream = await provider.read(path, { ...(signal && { signal }) })
  const bytes = await readBytes(stream, maxSidecarSize, () => tooLarge).catch((error: unknown) => {
    if (error === tooLarge) return undefined
    throw error
  })
  try {
    return bytes && parseSidecar(new TextDecoder().decode(bytes))
  } catch {
    return undefined
  }
}

/**
 * Whether a push of a service of this kind has written a pack, so that it may be deleted. Then the pack has a sidecar,
 * `isKnownDigest` knows the digest in it (SHA-256, lower-case hex), and the pack, if it still exists, has the same size and
 * digest. Everything else on a provider belongs to somebody else.
 */
export const isPushedPack = async (
  provider: Provider,
  packPath: string,
  isKnownDigest: (sha256: string) => boolean,
  signal?: AbortSignal,
): Promise<boolean> => {
  const sidecar = await readSidecar(provider, packPath, signal)
  if (!sidecar || !isKnownDigest(sidecar.sha256)) return false
  const found = await provider.stat(packPath, signal)
  return !found || (found.size === sidecar.size && (found.sha256 === undefined || found.sha256 === sidecar.sha256))
}
