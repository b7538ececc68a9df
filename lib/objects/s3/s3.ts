import type { IncomingHttpHeaders } from 'node:http'
import { isFault, ServiceError } from '#lib/errors.ts'
import { parseSettings, type Storage } from '../port/connection.ts'
import { AwsSettings, MinioSettings } from '../port/provider-settings.ts'
import { createVerifiedStream } from '../http/response-body.ts'
import { createRangeHeader, getBodySize } from '../http/range.ts'
import { getContentLength, parseModifiedAt, checkObjectSize } from '../http/response.ts'
import type { CreateFetcher } from '../http/fetcher.ts'
import { isObjectPath, splitObjectPath } from '../port/object-path.ts'
import type { ObjectStat, Provider } from '../port/provider.ts'
import { createS3Client } from './client.ts'
import { getCredentials, parseBucketEndpoint } from './bucket-endpoint.ts'
import { removeMany } from './remove-many.ts'
import { createMultipartUploads } from './multipart-uploads.ts'
import { createWrite } from './write.ts'
import { listPages } from './list-pages.ts'
import { findText } from '../http/xml.ts'

const maxKeyBytes = 1_024

const getKey = (path: string): string => {
  const key = splitObjectPath(path).join('/')
  if (Buffer.byteLength(key) > maxKeyBytes)
    throw new ServiceError('invalid', `A name in S3 has at most ${maxKeyBytes} bytes, so ${path} cannot be one.`)
  return key
}

/** The MD5 of an object. The ETag is the MD5 unless the object came in parts or is encrypted with keys of KMS or a customer. */
const getMd5 = (headers: IncomingHttpHeaders): string | undefined => {
  const encryption = headers['x-amz-server-side-encryption'] ?? 'AES256'
  const own = headers['x-amz-server-side-encryption-customer-algorithm'] === undefined && encryption === 'AES256'
  return own ? /^"?([0-9a-f]{32})"?$/.exec(headers.etag ?? '')?.[1] : undefined
}

const getSha256 = (headers: IncomingHttpHeaders): string | undefined =>
  /^[0-9a-f]{64}$/.exec(String(headers['x-amz-meta-sha256']))?.[0]

/**
 * Stores objects in a bucket of S3 or of a compatible server: `aws-s3` and `minio`. With `use_environment_authentication` the
 * credentials are those of `environment`. Throws `invalid` for an incomplete connection.
 */
export const createS3 = async (
  storage: Storage,
  createFetcher: CreateFetcher,
  environment: NodeJS.ProcessEnv = {},
): Promise<Provider> => {
  const isMinio = storage.type === 'minio'
  const settings = parseSettings(isMinio ? MinioSettings : AwsSettings, storage)
  const endpoint = parseBucketEndpoint(settings, isMinio ? 'http' : 'https')
  const send = createFetcher({ ignoreCertificate: settings.ignore_cert === true })
  const client = createS3Client(endpoint, getCredentials(settings, environment), send)
  const uploads = createMultipartUploads(client)
  const write = createWrite(client, uploads)
  let bucketExists = false

  /** HEAD gives 404 for a missing bucket and for a missing object. So the bucket is checked once. */
  const checkBucket = async (signal?: AbortSignal): Promise<void> => {
    if (!bucketExists)
      await client.send({ method: 'GET', key: '', query: { 'list-type': '2', 'max-keys': '1' }, signal })
    bucketExists = true
  }

  return {
    type: storage.type,

    async stat(path, signal) {
      try {
        const { headers } = await client.send({ method: 'HEAD', key: getKey(path), signal })
        const [md5, sha256] = [getMd5(headers), getSha256(headers)]
        return {
          path,
          size: checkObjectSize(endpoint.host, path, getContentLength({ headers })),
          ...parseModifiedAt(headers['last-modified']),
          ...(md5 !== undefined && { md5 }),
          ...(sha256 !== undefined && { sha256 }),
          ...(headers.etag !== undefined && { version: headers.etag }),
        }
      } catch (error) {
        if (!isFault(error, 'not-found')) throw error
        await checkBucket(signal)
        return undefined
      }
    },

    async read(path, { range, signal } = {}) {
      const key = getKey(path)
      const headers = createRangeHeader(path, range)
      const { headers: said, body } = await client.open({ method: 'GET', key, headers, signal })
      const found = { host: endpoint.host, what: path, length: said['content-length'], range: said['content-range'] }
      const sha256 = range ? undefined : getSha256(said)
      return createVerifiedStream(body, { ...found, size: getBodySize(body, found, range), sha256, signal })
    },

    async write(path, source, options = {}) {
      await write(getKey(path), source, options)
    },

    async *list(folder, signal): AsyncGenerator<ObjectStat> {
      const prefix = folder === '' ? '' : `${getKey(folder)}/`
      for await (const page of listPages(client, prefix, signal))
        for (const found of page) {
          const path = findText(found, 'Key') ?? ''
          // Other programs store markers of folders here, whose keys end in a slash.
          if (!isObjectPath(path)) continue
          const size = checkObjectSize(endpoint.host, path, Number(findText(found, 'Size') ?? NaN))
          yield { path, size, ...parseModifiedAt(findText(found, 'LastModified')) }
        }
    },

    cleanUpUploads: (path, signal) => uploads.abortAll(getKey(path), signal),
    removeMany: paths => removeMany(client, paths.map(getKey)),
    async remove(path, signal, { keepsUploads } = {}) {
      const key = getKey(path)
      const object = client.send({ method: 'DELETE', key, signal }).catch((error: unknown) => {
        if (!isFault(error, 'not-found')) throw error
      })
      // Its incomplete uploads are removed too, at the same time, since chunks are removed in thousands.
      const both = [object, ...(keepsUploads ? [] : [uploads.abortAll(key, signal)])]
      await Promise.allSettled(both)
      await Promise.all(both)
    },
  }
}
