import { isFault, ServiceError } from '#lib/errors.ts'
import type { StorageClient } from '../http/storage-client.ts'
import { findElements, findText } from '../http/xml.ts'
import { ignoreNotFound, requestXml } from './requests.ts'
import { createUploadRecords, getRecordKey } from './upload-records.ts'

/** A multipart upload that is not complete. */
export interface Upload {
  readonly id: string
  /** The key of its record. */
  readonly recordKey: string
  /** The ETags of the parts that S3 has, by their numbers from 1. */
  readonly parts: ReadonlyMap<number, string>
}

/** The object that a write uploads. */
export interface UploadRequest {
  readonly key: string
  /** The SHA-256 of the whole object. Without it, no later write finds the upload again. */
  readonly sha256: string | undefined
  readonly signal: AbortSignal | undefined
}

/** One part of an upload. */
interface UploadPart {
  /** From 1. */
  readonly number: number
  readonly bytes: Uint8Array
  readonly md5: Buffer
}

/** Milliseconds after which an upload is abandoned: a write aborts it and does not resume it. */
const abandonedAfter = 7 * 24 * 3_600_000

/** The most parts that S3 allows in an upload. */
const maxParts = 10_000

const stripQuotes = (etag: string): string => etag.replace(/"/g, '')

/** Incomplete uploads only cost space. So a write goes on when the storage does not let it list or abort them. */
const ignoreStorageErrors = async (cleanUp: Promise<void>): Promise<void> =>
  cleanUp.catch((error: unknown) => {
    if (!(error instanceof ServiceError)) throw error
  })

/**
 * Creates the multipart uploads of a bucket. A later write can resume them. S3 lists the id and the key of an upload, but not
 * the digest of its bytes. So a write stores the id in a hidden object named by key and SHA-256: the record of the upload. It
 * writes the record before the upload begins, so that the clean-up finds the upload even if this process is killed in between.
 */
export const createMultipartUploads = (client: StorageClient) => {
  const records = createUploadRecords(client)

  const listParts = async (
    id: string,
    { key, signal }: UploadRequest,
  ): Promise<ReadonlyMap<number, string> | undefined> => {
    const parts = new Map<number, string>()
    for (let marker = '0'; ;) {
      const query = { 'part-number-marker': marker, uploadId: id }
      const page = await ignoreNotFound(requestXml(client, { method: 'GET', key, query, signal }))
      if (page === undefined) return undefined
      for (const part of findElements(page, 'Part')) {
        const number = Number(findText(part, 'PartNumber'))
        if (number <= maxParts) parts.set(number, stripQuotes(findText(part, 'ETag') ?? ''))
      }
      const next = Number(findText(page, 'NextPartNumberMarker'))
      // The numbers must grow, else the pages would never end.
      if (findText(page, 'IsTruncated') !== 'true' || !(next > Number(marker) && next <= maxParts)) return parts
      marker = String(next)
    }
  }

  const findUpload = async (request: UploadRequest): Promise<Upload | undefined> => {
    if (request.sha256 === undefined) return undefined
    const recordKey = getRecordKey(request.key, request.sha256)
    const id = (await records.read(recordKey, request.signal))?.uploadId
    const parts = id ? await listParts(id, request) : undefined
    return id && parts ? { id, recordKey, parts } : undefined
  }

  /** Aborts the uploads of a key that were begun before a time, and removes their records. */
  const abortUploadsBefore = async (key: string, before: number, signal: AbortSignal | undefined): Promise<void> => {
    const list = await requestXml(client, { method: 'GET', key: '', query: { prefix: key, uploads: '' }, signal })
    for (const upload of findElements(list, 'Upload')) {
      const query = { uploadId: findText(upload, 'UploadId') ?? '' }
      if (findText(upload, 'Key') === key && Date.parse(findText(upload, 'Initiated') ?? '') < before)
        await ignoreNotFound(client.send({ method: 'DELETE', key, query, signal }))
    }
    for (const recordKey of await records.listBefore(key, before, signal)) await records.remove(recordKey, signal)
  }

  /** Aborts the abandoned uploads of all objects. */
  const abortAbandonedUploads = async (signal: AbortSignal | undefined): Promise<void> => {
    const before = Date.now() - abandonedAfter
    for (const recordKey of await records.listBefore(undefined, before, signal)) {
      const record = await records.read(recordKey, signal)
      if (record?.objectKey) await abortUploadsBefore(record.objectKey, before, signal)
    }
  }

  const createUpload = async ({ key, sha256, signal }: UploadRequest): Promise<Upload> => {
    const recordKey = getRecordKey(key, sha256 ?? crypto.randomUUID())
    await records.write(recordKey, { uploadId: '', objectKey: key }, signal)
    const headers = sha256 === undefined ? {} : { 'x-amz-meta-sha256': sha256 }
    const created = await requestXml(client, { method: 'POST', key, query: { uploads: '' }, headers, signal })
    const id = findText(created, 'UploadId')
    if (!id) throw new ServiceError('upstream', `The storage ${client.host} began an upload and gave no id for it.`)
    await records.write(recordKey, { uploadId: id, objectKey: key }, signal)
    return { id, recordKey, parts: new Map() }
  }

  /** True if the object is the one to upload. It is when S3 completed the upload, but its reply was lost. */
  const isStored = async ({ key, sha256, signal }: UploadRequest): Promise<boolean> => {
    if (sha256 === undefined) return false
    const object = await ignoreNotFound(client.send({ method: 'HEAD', key, signal }))
    return object?.headers['x-amz-meta-sha256'] === sha256
  }

  return {
    /** Gives the upload that an earlier write has begun for the same bytes, or a new one. */
    async resumeOrCreate(request: UploadRequest): Promise<Upload> {
      await ignoreStorageErrors(abortAbandonedUploads(request.signal))
      return (await findUpload(request)) ?? (await createUpload(request))
    },

    /** Sends one part and gives its ETag. */
    async uploadPart(key: string, id: string, { number, bytes, md5 }: UploadPart, signal: AbortSignal) {
      const { headers } = await client.send({
        method: 'PUT',
        key,
        query: { partNumber: String(number), uploadId: id },
        headers: { 'content-md5': md5.toString('base64') },
        body: bytes,
        signal,
      })
      return stripQuotes(headers.etag ?? '')
    },

    /** Completes an upload: S3 joins the parts in the order of their ETags. */
    async complete(request: UploadRequest, { id, recordKey }: Upload, etags: readonly string[]): Promise<void> {
      const { key, signal } = request
      const parts = etags.map(
        (etag, index) => `<Part><PartNumber>${index + 1}</PartNumber><ETag>"${etag}"</ETag></Part>`,
      )
      const body = Buffer.from(`<CompleteMultipartUpload>${parts.join('')}</CompleteMultipartUpload>`)
      await client
        .send({ method: 'POST', key, query: { uploadId: id }, body, signal })
        .catch(async (error: unknown) => {
          if (!isFault(error, 'not-found') || !(await isStored(request))) throw error
        })
      await records.remove(recordKey, signal)
    },

    async abort({ key }: UploadRequest, { id, recordKey }: Upload): Promise<void> {
      const signal = AbortSignal.timeout(30_000)
      await ignoreNotFound(client.send({ method: 'DELETE', key, query: { uploadId: id }, signal }))
      await records.remove(recordKey, signal)
    },

    /** Aborts all uploads of an object. No write of this object may run at the same time: it would lose its upload. */
    abortAll: (key: string, signal: AbortSignal | undefined): Promise<void> =>
      ignoreStorageErrors(abortUploadsBefore(key, Infinity, signal)),
  }
}

export type MultipartUploads = ReturnType<typeof createMultipartUploads>
