import { isFault, ServiceError } from '#lib/errors.ts'
import { checkDigest } from '../port/guard-writes.ts'
import { preconditionFailed } from '../port/check-version.ts'
import { forEachPart, MiB, type Part, minPartSize } from '../http/multipart.ts'
import type { Source, WriteOptions } from '../port/provider.ts'
import type { StorageClient } from '../http/storage-client.ts'
import type { MultipartUploads } from './multipart-uploads.ts'

const concurrency = 4

/** S3 takes 10,000 parts. The part size depends on the object size alone, so that a resumed write has the same parts. */
const getPartSize = (size: number): number => Math.max(minPartSize, Math.ceil(size / 9_000 / MiB) * MiB)

export const createWrite = (client: StorageClient, uploads: MultipartUploads) => {
  const writeSmall = async (key: string, source: Source, { signal, sha256, onProgress, replaces }: WriteOptions) => {
    let onlyPart: Part | undefined
    const options = {
      partSize: minPartSize,
      concurrency: 1,
      partAlgorithm: 'md5',
      algorithms: ['sha256'],
      signal,
    } as const
    const digests = await forEachPart(source, options, async part => {
      onlyPart = part
    })
    checkDigest(key, digests.sha256, sha256)
    const { bytes: body, digest: md5 } = onlyPart!
    const put = client.ask({
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
      throw replaces && isFault(error, 'not-found') ? preconditionFailed(key) : error
    })
    onProgress?.(source.size)
  }

  const writeLarge = async (key: string, source: Source, { signal, sha256, onProgress }: WriteOptions) => {
    const target = { key, sha256, signal }
    const upload = await uploads.resumeOrCreate(target)
    const etags: string[] = []
    let sentBytes = 0
    try {
      const partSize = getPartSize(source.size)
      const options = { partSize, concurrency, partAlgorithm: 'md5', algorithms: ['sha256'], signal } as const
      const digests = await forEachPart(source, options, async ({ index, bytes, digest: md5 }, partSignal) => {
        const isUploaded = upload.parts.get(index + 1) === md5.toString('hex')
        etags[index] = isUploaded
          ? md5.toString('hex')
          : await uploads.uploadPart(target, upload.id, index + 1, bytes, md5, partSignal)
        sentBytes += bytes.length
        onProgress?.(sentBytes)
      })
      checkDigest(key, digests.sha256, sha256)
      await uploads.complete(target, upload, etags)
    } catch (error) {
      // No later write can resume an upload without a digest or with wrong bytes.
      if (sha256 === undefined || isFault(error, 'conflict')) await uploads.abort(target, upload).catch(() => undefined)
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
