import type { ContainerListBlobFlatSegmentResponse } from '@azure/storage-blob'
import type { Readable } from 'node:stream'
import { isFault, ServiceError } from '#lib/errors.ts'
import type { Storage } from '../port/connection.ts'
import { openContainer, abortOptions } from './container.ts'
import { writeBlob } from './write.ts'
import { createVerifiedStream } from '../http/response-body.ts'
import { readPages } from '../http/listing.ts'
import { parseModifiedAt, checkObjectSize } from '../http/response.ts'
import { createRangeHeader, getBodySize } from '../http/range.ts'
import { createFetcher, type Fetcher } from '../http/send.ts'
import { isObjectPath, splitObjectPath } from '../port/object-path.ts'
import type { ObjectStat, Provider } from '../port/provider.ts'

interface Properties {
  readonly contentLength?: number | undefined
  readonly lastModified?: Date | undefined
  readonly contentMD5?: Uint8Array | undefined
  readonly etag?: string | undefined
}

/** Parses the MD5 of a blob. Other clients store its hex text where Azure expects its bytes. */
const parseMd5 = (bytes: Uint8Array): string | undefined => {
  const text = bytes.length === 32 ? Buffer.from(bytes).toString('latin1') : Buffer.from(bytes).toString('hex')
  return /^[0-9a-f]{32}$/i.test(text) ? text.toLowerCase() : undefined
}

const getSha256 = (metadata: Readonly<Record<string, string>> | undefined): string | undefined =>
  /^[0-9a-f]{64}$/.exec(metadata?.['sha256'] ?? '')?.[0]

const toObjectStat = (
  host: string,
  path: string,
  properties: Properties,
  metadata?: Readonly<Record<string, string>>,
): ObjectStat => {
  const { contentLength, lastModified, contentMD5, etag } = properties
  const [md5, sha256] = [contentMD5 && parseMd5(contentMD5), getSha256(metadata)]
  return {
    path,
    size: checkObjectSize(host, path, contentLength ?? 0),
    ...parseModifiedAt(lastModified?.toJSON()),
    ...(md5 !== undefined && { md5 }),
    ...(sha256 !== undefined && { sha256 }),
    ...(etag !== undefined && { version: etag }),
  }
}

const getBlobName = (path: string): string => splitObjectPath(path).join('/')

/** Stores objects as blobs of a container of Azure. Throws `invalid` for an incomplete connection. */
export const createAzure = async (storage: Storage, fetcher: Fetcher = createFetcher()): Promise<Provider> => {
  const container = await openContainer(storage, fetcher)
  const { host, client, execute } = container
  const writing = new Set<string>()

  return {
    type: storage.type,

    async stat(path, signal) {
      const blob = client.getBlobClient(getBlobName(path))
      try {
        const properties = await execute(() => blob.getProperties(abortOptions(signal)), signal)
        return toObjectStat(host, path, properties, properties.metadata)
      } catch (error) {
        if (isFault(error, 'not-found')) return undefined
        throw error
      }
    },

    async read(path, { range, signal } = {}) {
      const blob = client.getBlobClient(getBlobName(path))
      createRangeHeader(path, range)
      const [offset, count] = range ? [range.start, range.end - range.start] : [0, undefined]
      // The library would resume a stream that ends early by itself, without our limits.
      const options = { ...abortOptions(signal), maxRetryRequests: 0 }
      const reply = await execute(() => blob.download(offset, count, options), signal)
      const body = reply.readableStreamBody as Readable
      const found = { host, what: path, length: String(reply.contentLength), range: reply.contentRange }
      const sha256 = range ? undefined : getSha256(reply.metadata)
      return createVerifiedStream(body, { host, what: path, size: getBodySize(body, found, range), sha256, signal })
    },

    async write(path, source, options = {}) {
      const name = getBlobName(path)
      if (writing.has(name)) throw new ServiceError('conflict', `${path} is being written already.`)
      writing.add(name)
      try {
        await writeBlob(container, name, source, options)
      } finally {
        writing.delete(name)
      }
    },

    async *list(folder, signal): AsyncGenerator<ObjectStat> {
      const options = {
        ...abortOptions(signal),
        includeMetadata: true,
        prefix: folder === '' ? '' : `${getBlobName(folder)}/`,
      }
      const read = async (token: string | undefined) => {
        const from = { ...(token !== undefined && { continuationToken: token }), maxPageSize: 1_000 }
        const { value: page } = await execute(() => client.listBlobsFlat(options).byPage(from).next(), signal)
        const { segment, continuationToken } = page as ContainerListBlobFlatSegmentResponse
        return { items: segment.blobItems, next: continuationToken || undefined }
      }
      for await (const page of readPages(host, read, ({ name }) => name))
        for (const { name, properties, metadata } of page)
          if (isObjectPath(name)) yield toObjectStat(host, name, properties, metadata)
    },

    async remove(path, signal) {
      await execute(() => client.deleteBlob(getBlobName(path), abortOptions(signal)), signal).catch(
        (error: unknown) => {
          if (!isFault(error, 'not-found')) throw error
        },
      )
    },
  }
}
