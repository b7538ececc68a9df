import type { BlockBlobClient } from '@azure/storage-blob'
import { isFault, ServiceError } from '#lib/errors.ts'
import { handlePieces, MiB, smallestPiece } from '../http/pieces.ts'
import type { Source, WriteOptions } from '../provider.ts'
import { type Container, until } from './container.ts'

const lanes = 4

/** A blob has 50,000 blocks at most. */
const pieceSizeOf = (size: number): number => Math.max(smallestPiece, Math.ceil(size / 45_000 / MiB) * MiB)

/** All ids of a blob have one length. They say what is in the block, so that a later try knows those that are there. */
const idOf = (index: number, md5: Buffer): string =>
  Buffer.from(`${String(index).padStart(5, '0')}-${md5.toString('hex')}`).toString('base64')

/** The ids of the blocks that earlier tries have left. */
const stagedIn = async (
  { ask }: Container,
  blob: BlockBlobClient,
  signal: AbortSignal | undefined,
): Promise<ReadonlySet<string>> => {
  try {
    const { uncommittedBlocks } = await ask(() => blob.getBlockList('uncommitted', until(signal)), signal)
    return new Set(uncommittedBlocks?.map(({ name }) => name))
  } catch (error) {
    if (isFault(error, 'not-found')) return new Set()
    throw error
  }
}

/**
 * Writes a blob: a small one at once, a large one in blocks that are put together in the end. Blocks that nobody put
 * together are deleted by Azure after a week.
 */
export const writeBlob = async (
  container: Container,
  path: string,
  source: Source,
  { signal, sha256, onProgress }: WriteOptions,
): Promise<void> => {
  const blob = container.client.getBlockBlobClient(path)
  const small = source.size <= smallestPiece
  const staged = small ? new Set<string>() : await stagedIn(container, blob, signal)
  const ids: string[] = []
  let [done, only] = [0, Buffer.of() as Buffer]
  const pieceSize = pieceSizeOf(source.size)
  const options = { pieceSize, lanes, pieceDigest: 'md5', digests: ['sha256', 'md5'], signal } as const
  const whole = await handlePieces(source, options, async ({ index, bytes, digest: md5 }, signal) => {
    if (small) {
      only = bytes
      return
    }
    const id = idOf(index, md5)
    ids[index] = id
    const block = { transactionalContentMD5: md5, ...until(signal) }
    if (!staged.has(id)) await container.ask(() => blob.stageBlock(id, bytes, bytes.length, block), signal)
    done += bytes.length
    onProgress?.(done)
  })
  if (sha256 !== undefined && whole.sha256 !== sha256)
    throw new ServiceError('conflict', `The bytes of ${path} are not those that their SHA-256 says.`)
  const properties = {
    metadata: { sha256: whole.sha256 },
    blobHTTPHeaders: { blobContentMD5: Buffer.from(whole.md5, 'hex') },
    ...until(signal),
  }
  if (small) {
    const onSent = ({ loadedBytes }: { loadedBytes: number }): void => onProgress?.(loadedBytes)
    await container.ask(() => blob.upload(only, only.length, { ...properties, onProgress: onSent }), signal)
    onProgress?.(source.size)
  } else await container.ask(() => blob.commitBlockList(ids, properties), signal)
}
