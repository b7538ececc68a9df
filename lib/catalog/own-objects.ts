import { ServiceError } from '#lib/errors.ts'
import { sideEnd } from './manifest-objects.ts'
import { maxSidecarSize, parseSidecar, type Sidecar } from '#lib/packs/sidecar.ts'
import { readBytes } from '#lib/objects/port/bytes.ts'
import type { Provider } from '#lib/objects/port/provider.ts'

/** The side file of a pack; undefined where there is none, or what is there is none. */
const sideFileAt = async (provider: Provider, packAt: string, signal?: AbortSignal): Promise<Sidecar | undefined> => {
  const path = packAt + sideEnd
  if (!(await provider.stat(path, signal))) return undefined
  const tooLarge = new ServiceError('upstream', `${path} is too large for a side file.`)
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
 * Whether a service of this kind has written the pack of a path, so that it may be deleted: its side file is there, `isDigest`
 * knows the digest in that (SHA-256, lower-case hex), and the pack, unless it is gone already, has the size. All else on a
 * provider is somebody else's.
 */
export const isOurs = async (
  provider: Provider,
  packAt: string,
  isDigest: (sha256: string) => boolean,
  signal?: AbortSignal,
): Promise<boolean> => {
  const side = await sideFileAt(provider, packAt, signal)
  if (!side || !isDigest(side.sha256)) return false
  const found = await provider.stat(packAt, signal)
  return !found || (found.size === side.size && (found.sha256 === undefined || found.sha256 === side.sha256))
}
