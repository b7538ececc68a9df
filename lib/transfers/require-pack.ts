import { ServiceError } from '#lib/errors.ts'
import { indexMagic } from '#lib/packs/chunks/chunk-index.ts'
import { readBytes } from '#lib/async/read-bytes.ts'
import type { ObjectStat, Provider } from '#lib/objects/port/provider.ts'

/** The error for an object that does not exist. */
export const createMissingObjectError = (what: string, path: string): ServiceError =>
  new ServiceError('not-found', `The ${what} ${path} does not exist on the provider.`)

/** Bytes that suffice to recognize a tar, whose magic is at 257. */
const headSize = 512

/** The first bytes of gzip, zstd, a chunk index and a tar. */
const packMagics: readonly (readonly [at: number, bytes: Uint8Array])[] = [
  [0, Buffer.from([0x1f, 0x8b])],
  [0, Buffer.from([0x28, 0xb5, 0x2f, 0xfd])],
  [0, indexMagic],
  [257, Buffer.from('ustar')],
]

/**
 * Throws `invalid` for an object that is neither a tar, plain or compressed by gzip or zstd, nor a chunk index. The service
 * serves only such objects as packs, and registers only such objects, because a manifest lets others read its pack.
 */
export const requirePack = async (
  provider: Provider,
  { path, size }: ObjectStat,
  signal?: AbortSignal,
): Promise<void> => {
  const end = Math.min(size, headSize)
  const bytes =
    end === 0
      ? new Uint8Array()
      : await readBytes(await provider.read(path, { range: { start: 0, end }, ...(signal && { signal }) }), end, () =>
          createMissingObjectError('pack', path),
        )
  const head = Buffer.from(bytes)
  if (!packMagics.some(([at, magic]) => head.subarray(at, at + magic.length).equals(magic)))
    throw new ServiceError(
      'invalid',
      `${path} on the provider is not a pack: neither a tar, gzip or zstd, nor a chunk index.`,
    )
}
