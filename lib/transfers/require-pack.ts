import { ServiceError } from '#lib/errors.ts'
import { listMagic } from '#lib/packs/chunks/chunk-index.ts'
import { readBytes } from '#lib/objects/port/bytes.ts'
import type { ObjectStat, Provider } from '#lib/objects/port/provider.ts'
import { missing } from './register-found.ts'

/** Bytes by which a tar is known: its magic is at 257. */
const headSize = 512

const begins: readonly (readonly [at: number, bytes: Uint8Array])[] = [
  [0, Buffer.from([0x1f, 0x8b])],
  [0, Buffer.from([0x28, 0xb5, 0x2f, 0xfd])],
  [0, listMagic],
  [257, Buffer.from('ustar')],
]

/**
 * Refuses an object that is not a pack: a tar, also as gzip or zstd, or a list of chunks. Nothing else is handed out as one, or
 * may be put into the catalog to be read. Throws `invalid`.
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
          missing('pack', path),
        )
  const head = Buffer.from(bytes)
  if (!begins.some(([at, magic]) => head.subarray(at, at + magic.length).equals(magic)))
    throw new ServiceError(
      'invalid',
      `${path} on the provider is not a pack: neither a tar, gzip or zstd, nor a list of chunks.`,
    )
}
