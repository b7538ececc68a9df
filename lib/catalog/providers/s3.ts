import type { IncomingHttpHeaders } from 'node:http'
import { isFault, ServiceError } from '#lib/errors.ts'
import type { Storage } from '../connection.ts'
import { checkedStream } from './http/body.ts'
import { rangeHeader, sizeOf } from './http/range.ts'
import { lengthOf, modifiedAtOf, objectSize } from './http/reply.ts'
import { createFetcher, type Fetcher } from './http/send.ts'
import { isObjectPath, segmentsOf } from './object-path.ts'
import type { ObjectStat, Provider } from './provider.ts'
import { createClient } from './s3/client.ts'
import { credentialsOf, isOn, placeOf } from './s3/place.ts'
import { createUploads } from './s3/uploads.ts'
import { createWrite } from './s3/write.ts'
import { elements, textIn } from './s3/xml.ts'

const longestKey = 1_024

const keyOf = (path: string): string => {
  const key = segmentsOf(path).join('/')
  if (Buffer.byteLength(key) > longestKey)
    throw new ServiceError('invalid', `A name in S3 has at most ${longestKey} bytes, so ${path} cannot be one.`)
  return key
}

/** The MD5 of the whole, where the ETag is that: not of what came in parts, and not of what a key service encrypts. */
const md5Of = (headers: IncomingHttpHeaders): string | undefined => {
  const encryption = headers['x-amz-server-side-encryption'] ?? 'AES256'
  const own = headers['x-amz-server-side-encryption-customer-algorithm'] === undefined && encryption === 'AES256'
  return own ? /^"?([0-9a-f]{32})"?$/.exec(headers.etag ?? '')?.[1] : undefined
}

const sha256Of = (headers: IncomingHttpHeaders): string | undefined =>
  /^[0-9a-f]{64}$/.exec(String(headers['x-amz-meta-sha256']))?.[0]

/**
 * Keeps objects in a bucket of S3, or of a server that speaks its protocol: `aws-s3` and `minio`. With
 * `use_environment_authentication` the credentials are those of `environment`. Throws `invalid` for a connection that
 * does not say what is needed.
 */
export const createS3 = async (
  storage: Storage,
  fetcher: Fetcher = createFetcher({ ignoreCertificate: isOn(storage.meta['ignore_cert']) }),
  environment: NodeJS.ProcessEnv = {},
): Promise<Provider> => {
  const place = placeOf(storage)
  const client = createClient(place, credentialsOf(storage, environment), fetcher)
  const uploads = createUploads(client)
  const write = createWrite(client, uploads)
  const writing = new Set<string>()
  let bucketIsThere = false

  /** Of a bucket that is missing HEAD says only that the object is, so the bucket is asked for once. */
  const checkBucket = async (signal?: AbortSignal): Promise<void> => {
    if (!bucketIsThere)
      await client.ask({ method: 'GET', key: '', query: { 'list-type': '2', 'max-keys': '1' }, signal })
    bucketIsThere = true
  }

  return {
    type: storage.type,

    async stat(path, signal) {
      try {
        const { headers } = await client.ask({ method: 'HEAD', key: keyOf(path), signal })
        const [md5, sha256] = [md5Of(headers), sha256Of(headers)]
        return {
          path,
          size: objectSize(place.host, path, lengthOf({ headers })),
          ...modifiedAtOf(headers['last-modified']),
          ...(md5 !== undefined && { md5 }),
          ...(sha256 !== undefined && { sha256 }),
        }
      } catch (error) {
        if (!isFault(error, 'not-found')) throw error
        await checkBucket(signal)
        return undefined
      }
    },

    async read(path, { range, signal } = {}) {
      const key = keyOf(path)
      const headers = rangeHeader(path, range)
      const { headers: said, body } = await client.open({ method: 'GET', key, headers, signal })
      const found = { host: place.host, what: path, length: said['content-length'], range: said['content-range'] }
      const sha256 = range ? undefined : sha256Of(said)
      return checkedStream(body, { ...found, size: sizeOf(body, found, range), sha256, signal })
    },

    async write(path, source, options = {}) {
      const key = keyOf(path)
      if (writing.has(key)) throw new ServiceError('conflict', `${path} is being written already.`)
      writing.add(key)
      try {
        await write(key, source, options)
      } finally {
        writing.delete(key)
      }
    },

    async *list(folder, signal): AsyncGenerator<ObjectStat> {
      const prefix = folder === '' ? '' : `${keyOf(folder)}/`
      for (let token: string | undefined; ;) {
        const query = { ...(token !== undefined && { 'continuation-token': token }), 'list-type': '2', prefix }
        const { text } = await client.ask({ method: 'GET', key: '', query, signal })
        for (const found of elements(text, 'Contents')) {
          const path = textIn(found, 'Key') ?? ''
          // Others keep here what is no object of ours: the markers of folders, whose names end in a slash.
          if (!isObjectPath(path)) continue
          const size = objectSize(place.host, path, Number(textIn(found, 'Size') ?? NaN))
          yield { path, size, ...modifiedAtOf(textIn(found, 'LastModified')) }
        }
        const next = textIn(text, 'NextContinuationToken')
        if (textIn(text, 'IsTruncated') !== 'true' || next === undefined || next === token) return
        token = next
      }
    },

    async settle(path, signal) {
      const key = keyOf(path)
      if (!writing.has(key)) await uploads.end(key, signal)
    },
    async remove(path, signal) {
      const key = keyOf(path)
      const object = client.ask({ method: 'DELETE', key, signal }).catch((error: unknown) => {
        if (!isFault(error, 'not-found')) throw error
      })
      // What was begun to be sent of it goes, too; at once, since chunks are removed in thousands.
      const both = [object, ...(writing.has(key) ? [] : [uploads.end(key, signal)])]
      await Promise.allSettled(both)
      await Promise.all(both)
    },
  }
}
