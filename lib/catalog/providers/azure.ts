import type { ContainerListBlobFlatSegmentResponse } from '@azure/storage-blob'
import type { Readable } from 'node:stream'
import { isFault, ServiceError } from '#lib/errors.ts'
import type { Storage } from '../connection.ts'
import { openContainer, until } from './azure/container.ts'
import { writeBlob } from './azure/write.ts'
import { checkedStream } from './http/body.ts'
import { modifiedAtOf, objectSize } from './http/reply.ts'
import { rangeHeader, sizeOf } from './http/range.ts'
import { createFetcher, type Fetcher } from './http/send.ts'
import { isObjectPath, segmentsOf } from './object-path.ts'
import type { ObjectStat, Provider } from './provider.ts'

interface Properties {
  readonly contentLength?: number | undefined
  readonly lastModified?: Date | undefined
  readonly contentMD5?: Uint8Array | undefined
}

/** Other services of the field write the MD5 in hex where Azure has its bytes. */
const md5Of = (bytes: Uint8Array): string | undefined => {
  const text = bytes.length === 32 ? Buffer.from(bytes).toString('latin1') : Buffer.from(bytes).toString('hex')
  return /^[0-9a-f]{32}$/i.test(text) ? text.toLowerCase() : undefined
}

const sha256In = (metadata: Readonly<Record<string, string>> | undefined): string | undefined =>
  /^[0-9a-f]{64}$/.exec(metadata?.['sha256'] ?? '')?.[0]

const statOf = (
  host: string,
  path: string,
  properties: Properties,
  metadata?: Readonly<Record<string, string>>,
): ObjectStat => {
  const { contentLength, lastModified, contentMD5 } = properties
  const [md5, sha256] = [contentMD5 && md5Of(contentMD5), sha256In(metadata)]
  return {
    path,
    size: objectSize(host, path, contentLength ?? 0),
    ...modifiedAtOf(lastModified?.toJSON()),
    ...(md5 !== undefined && { md5 }),
    ...(sha256 !== undefined && { sha256 }),
  }
}

const nameOf = (path: string): string => segmentsOf(path).join('/')

/** Keeps objects as blobs of a container of Azure. Throws `invalid` for a connection that does not say what is needed. */
export const createAzure = async (storage: Storage, fetcher: Fetcher = createFetcher()): Promise<Provider> => {
  const container = await openContainer(storage, fetcher)
  const { host, client, ask } = container
  const writing = new Set<string>()

  return {
    type: storage.type,

    async stat(path, signal) {
      const blob = client.getBlobClient(nameOf(path))
      try {
        const properties = await ask(() => blob.getProperties(until(signal)), signal)
        return statOf(host, path, properties, properties.metadata)
      } catch (error) {
        if (isFault(error, 'not-found')) return undefined
        throw error
      }
    },

    async read(path, { range, signal } = {}) {
      const blob = client.getBlobClient(nameOf(path))
      rangeHeader(path, range)
      const [offset, count] = range ? [range.start, range.end - range.start] : [0, undefined]
      // It would go on by itself with a stream that ends early, and without our limits.
      const options = { ...until(signal), maxRetryRequests: 0 }
      const reply = await ask(() => blob.download(offset, count, options), signal)
      const body = reply.readableStreamBody as Readable
      const found = { host, what: path, length: String(reply.contentLength), range: reply.contentRange }
      const sha256 = range ? undefined : sha256In(reply.metadata)
      return checkedStream(body, { host, what: path, size: sizeOf(body, found, range), sha256, signal })
    },

    async write(path, source, options = {}) {
      const name = nameOf(path)
      if (writing.has(name)) throw new ServiceError('conflict', `${path} is being written already.`)
      writing.add(name)
      try {
        await writeBlob(container, name, source, options)
      } finally {
        writing.delete(name)
      }
    },

    async *list(folder, signal): AsyncGenerator<ObjectStat> {
      const options = { ...until(signal), includeMetadata: true, prefix: folder === '' ? '' : `${nameOf(folder)}/` }
      for (let token: string | undefined; ;) {
        const from = { ...(token !== undefined && { continuationToken: token }), maxPageSize: 1_000 }
        const { value: page } = await ask(() => client.listBlobsFlat(options).byPage(from).next(), signal)
        const { segment, continuationToken } = page as ContainerListBlobFlatSegmentResponse
        for (const { name, properties, metadata } of segment.blobItems)
          if (isObjectPath(name)) yield statOf(host, name, properties, metadata)
        if (!continuationToken) return
        token = continuationToken
      }
    },

    async remove(path, signal) {
      await ask(() => client.deleteBlob(nameOf(path), until(signal)), signal).catch((error: unknown) => {
        if (!isFault(error, 'not-found')) throw error
      })
    },
  }
}
