import { isFault, ServiceError } from '#lib/errors.ts'
import { checkDigest } from '../port/guard-writes.ts'
import { createPreconditionError } from '../port/check-version.ts'
import { forEachPart, MiB, type Part, minPartSize } from '../http/multipart.ts'
import type { Source, WriteOptions } from '../port/provider.ts'
import type { StorageClient } from '../http/storage-client.ts'
import type { MultipartUploads } from './multipart-uploads.ts'

/** Parts of a large object that are sent at the same time. */
const concurrency = 4

/** The number of parts that a large object is divided into. S3 allows 10,000; the rest is a margin. */
const targetParts = 9_000

/** Depends on the size of the object alone, so that a resumed write has the same parts. */
const getPartSize = (size: number): number => Math.max(minPartSize, Math.ceil(size / targetParts / MiB) * MiB)

/** Creates the function that writes objects of a bucket. */
export const createWrite = (client: StorageClient, uploads: MultipartUploads) => {
  const writeSmall = async (key: string, source: Source, { signal, sha256, onProgress, replaces }: WriteOptions) => {
    const parts: Part[] = []
    const options = {
      partSize: minPartSize,
      concurrency: 1,
      partAlgorithm: 'md5',
      algorithms: ['sha256'],
      signal,
    } as const
    const digests = await forEachPart(source, options, async part => {
      parts.push(part)
    })
    checkDigest(key, digests.sha256, sha256)
    const [part] = parts
    if (!part) throw new Error('A source yields at least one part, even when it is empty.')
    const { bytes: body, digest: md5 } = part
    const put = client.send({
      method: 'PUT',
      key,
      headers: {
        'content-md5': md5.toString('base64'),
        'x-amz-meta-sha256': digests.sha256,
        ...(replaces && { 'if-match': replaces }),
        ...(replaces === null && { 'if-none-match': '*' }),
      },
      body,
      signal,
      ...(onProgress && { onSent: onProgress }),
    })
    await put.catch((error: unknown) => {
      // S3 replies with 404 when the object of If-Match was removed.
      throw replaces && isFault(error, 'not-found') ? createPreconditionError(key) : error
    })
    onProgress?.(source.size)
  }

  const writeLarge = async (key: string, source: Source, { signal, sha256, onProgress }: WriteOptions) => {
    const request = { key, sha256, signal }
    const upload = await uploads.resumeOrCreate(request)
    const etags: string[] = []
    let sentBytes = 0
    try {
      const partSize = getPartSize(source.size)
      const options = { partSize, concurrency, partAlgorithm: 'md5', algorithms: ['sha256'], signal } as const
      const digests = await forEachPart(source, options, async ({ index, bytes, digest: md5 }, partSignal) => {
        const number = index + 1
        // The ETag of a part is the MD5 of its bytes.
        const isUploaded = upload.parts.get(number) === md5.toString('hex')
        etags[index] = isUploaded
          ? md5.toString('hex')
          : await uploads.uploadPart(key, upload.id, { number, bytes, md5 }, partSignal)
        sentBytes += bytes.length
        onProgress?.(sentBytes)
      })
      checkDigest(key, digests.sha256, sha256)
      await uploads.complete(request, upload, etags)
    } catch (error) {
      // No later write can resume an upload without a digest or with wrong bytes; `checkDigest` throws `conflict` for those.
      if (sha256 === undefined || isFault(error, 'conflict'))
        await uploads.abort(request, upload).catch(() => undefined)
      if (!isFault(error, 'not-found')) throw error
      throw new ServiceError('upstream', `The upload of ${key} was aborted by another client; send it again.`, {
        cause: error,
      })
    }
  }

  return async (key: string, source: Source, options: WriteOptions): Promise<void> => {
    if (source.size <= minPartSize) return writeSmall(key, source, options)
    await writeLarge(key, source, options)
    // An earlier write may have begun an upload of other bytes.
    await uploads.abortAll(key, options.signal)
  }
}
