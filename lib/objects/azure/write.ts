import type { BlockBlobClient } from '@azure/storage-blob'
import { isFault, ServiceError } from '#lib/errors.ts'
import { forEachPart, MiB, minPartSize } from '../http/multipart.ts'
import type { Source, WriteOptions } from '../port/provider.ts'
import { type Container, abortOptions } from './container.ts'

const concurrency = 4

/** A blob has 50,000 blocks at most. */
const getBlockSize = (size: number): number => Math.max(minPartSize, Math.ceil(size / 45_000 / MiB) * MiB)

/** All ids of a blob must have the same length. They have the digest of the block, so that a resumed write knows its blocks. */
const createBlockId = (index: number, md5: Buffer): string =>
  Buffer.from(`${String(index).padStart(5, '0')}-${md5.toString('hex')}`).toString('base64')

/** The ids of the blocks that earlier writes have staged. */
const listStagedBlocks = async (
  { execute }: Container,
  blob: BlockBlobClient,
  signal: AbortSignal | undefined,
): Promise<ReadonlySet<string>> => {
  try {
    const { uncommittedBlocks } = await execute(() => blob.getBlockList('uncommitted', abortOptions(signal)), signal)
    return new Set(uncommittedBlocks?.map(({ name }) => name))
  } catch (error) {
    if (isFault(error, 'not-found')) return new Set()
    throw error
  }
}

/**
 * Writes a blob: a small one in one request, a large one in blocks that are committed at the end. Azure deletes uncommitted
 * blocks after a week. Throws `conflict` when the bytes do not match `sha256`.
 */
export const writeBlob = async (
  container: Container,
  path: string,
  source: Source,
  { signal, sha256, onProgress, replaces }: WriteOptions,
): Promise<void> => {
  const blob = container.client.getBlockBlobClient(path)
  const isSmall = source.size <= minPartSize
  const stagedBlocks = isSmall ? new Set<string>() : await listStagedBlocks(container, blob, signal)
  const ids: string[] = []
  let [sentBytes, onlyBlock] = [0, Buffer.of() as Buffer]
  const partSize = getBlockSize(source.size)
  const options = { partSize, concurrency, partAlgorithm: 'md5', algorithms: ['sha256', 'md5'], signal } as const
  const digests = await forEachPart(source, options, async ({ index, bytes, digest: md5 }, signal) => {
    if (isSmall) {
      onlyBlock = bytes
      return
    }
    const id = createBlockId(index, md5)
    ids[index] = id
    const block = { transactionalContentMD5: md5, ...abortOptions(signal) }
    if (!stagedBlocks.has(id)) await container.execute(() => blob.stageBlock(id, bytes, bytes.length, block), signal)
    sentBytes += bytes.length
    onProgress?.(sentBytes)
  })
  if (sha256 !== undefined && digests.sha256 !== sha256)
    throw new ServiceError('conflict', `The bytes of ${path} are not those that their SHA-256 says.`)
  const properties = {
    metadata: { sha256: digests.sha256 },
    blobHTTPHeaders: { blobContentMD5: Buffer.from(digests.md5, 'hex') },
    ...(replaces !== undefined && { conditions: replaces === null ? { ifNoneMatch: '*' } : { ifMatch: replaces } }),
    ...abortOptions(signal),
  }
  if (isSmall) {
    const onSent = ({ loadedBytes }: { loadedBytes: number }): void => onProgress?.(loadedBytes)
    await container.execute(
      () => blob.upload(onlyBlock, onlyBlock.length, { ...properties, onProgress: onSent }),
      signal,
    )
    onProgress?.(source.size)
  } else await container.execute(() => blob.commitBlockList(ids, properties), signal)
}
