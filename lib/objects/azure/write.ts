import { isFault } from '#lib/errors.ts'
import { forEachPart, MiB, minPartSize } from '../http/multipart.ts'
import type { StorageClient } from '../http/storage-client.ts'
import { findElements, findText, parseXml } from '../http/xml.ts'
import { checkDigest } from '../port/guard-writes.ts'
import type { Source, WriteOptions } from '../port/provider.ts'

const concurrency = 4

/** A blob has 50,000 blocks at most. */
const getBlockSize = (size: number): number => Math.max(minPartSize, Math.ceil(size / 45_000 / MiB) * MiB)

/** All ids of a blob must have the same length. They have the digest of the block, so that a resumed write knows its blocks. */
const createBlockId = (index: number, md5: Buffer): string =>
  Buffer.from(`${String(index).padStart(5, '0')}-${md5.toString('hex')}`).toString('base64')

/** The ids of the blocks that earlier writes have staged. */
const listStagedBlocks = async (
  client: StorageClient,
  key: string,
  signal: AbortSignal | undefined,
): Promise<ReadonlySet<string>> => {
  const query = { comp: 'blocklist', blocklisttype: 'uncommitted' }
  try {
    const { text } = await client.send({ method: 'GET', key, query, signal })
    const blocks = findElements(await parseXml(client.host, text), 'Block')
    return new Set(blocks.map(block => findText(block, 'Name') ?? ''))
  } catch (error) {
    if (isFault(error, 'not-found')) return new Set()
    throw error
  }
}

const createBlockList = (ids: readonly string[]): Buffer => {
  const blocks = ids.map(id => `<Latest>${id}</Latest>`)
  return Buffer.from(`<?xml version="1.0" encoding="utf-8"?><BlockList>${blocks.join('')}</BlockList>`)
}

/**
 * Writes a blob: a small one in one request, a large one in blocks that are committed at the end. Azure deletes uncommitted
 * blocks after a week. Throws `conflict` when the bytes do not match `sha256`.
 */
export const writeBlob = async (
  client: StorageClient,
  key: string,
  source: Source,
  { signal, sha256, onProgress, replaces }: WriteOptions,
): Promise<void> => {
  const isSmall = source.size <= minPartSize
  const stagedBlocks = isSmall ? new Set<string>() : await listStagedBlocks(client, key, signal)
  const ids: string[] = []
  // A buffer of any memory, because a part brings its own.
  let [sentBytes, onlyBlock] = [0, Buffer.of() as Buffer]
  const partSize = getBlockSize(source.size)
  const options = { partSize, concurrency, partAlgorithm: 'md5', algorithms: ['sha256', 'md5'], signal } as const
  const digests = await forEachPart(source, options, async ({ index, bytes, digest: md5 }, partSignal) => {
    if (isSmall) {
      onlyBlock = bytes
      return
    }
    const id = createBlockId(index, md5)
    ids[index] = id
    if (!stagedBlocks.has(id))
      await client.send({
        method: 'PUT',
        key,
        query: { comp: 'block', blockid: id },
        headers: { 'content-md5': md5.toString('base64'), 'content-type': 'application/octet-stream' },
        body: bytes,
        signal: partSignal,
      })
    sentBytes += bytes.length
    onProgress?.(sentBytes)
  })
  checkDigest(key, digests.sha256, sha256)
  const headers = {
    'x-ms-blob-content-md5': Buffer.from(digests.md5, 'hex').toString('base64'),
    'x-ms-meta-sha256': digests.sha256,
    ...(replaces && { 'if-match': replaces }),
    ...(replaces === null && { 'if-none-match': '*' }),
  }
  if (isSmall) {
    const blobHeaders = { ...headers, 'content-type': 'application/octet-stream', 'x-ms-blob-type': 'BlockBlob' }
    const sent = onProgress && { onSent: onProgress }
    await client.send({ method: 'PUT', key, headers: blobHeaders, body: onlyBlock, signal, ...sent })
    onProgress?.(source.size)
  } else {
    const listHeaders = { ...headers, 'content-type': 'application/xml' }
    const query = { comp: 'blocklist' }
    await client.send({ method: 'PUT', key, query, headers: listHeaders, body: createBlockList(ids), signal })
  }
}
