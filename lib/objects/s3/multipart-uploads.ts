import { createHash } from 'node:crypto'
import { isFault, ServiceError } from '#lib/errors.ts'
import { hiddenPrefix } from '../port/object-path.ts'
import type { StorageClient, StorageRequest } from '../http/storage-client.ts'
import { findElements, findText, parseXml, type XmlElement } from '../http/xml.ts'

/** A multipart upload that is not complete. */
export interface Upload {
  readonly id: string
  /** The key of its record. */
  readonly recordKey: string
  /** The ETags of the parts that S3 has, by their numbers from 1. */
  readonly parts: ReadonlyMap<number, string>
}

interface Target {
  readonly key: string
  /** Of the whole object; with it the upload can be found again. */
  readonly sha256: string | undefined
  readonly signal: AbortSignal | undefined
}

/** An upload of this age is abandoned: no write resumes it. */
const abandonedAfterMs = 7 * 24 * 3_600_000

const recordPrefix = `${hiddenPrefix}uploads/`

/** The most parts that an upload can have. */
const maxParts = 10_000

const stripQuotes = (etag: string): string => etag.replace(/"/g, '')

const undefinedIfNotFound = async <T>(promise: Promise<T>): Promise<T | undefined> =>
  promise.catch((error: unknown) => {
    if (isFault(error, 'not-found')) return undefined
    throw error
  })

/**
 * Multipart uploads that a later write can resume. S3 lists the id and the key of an upload, but not the digest of its bytes.
 * So the id is stored in a hidden object named by key and SHA-256: the record of the upload. The record is first written
 * before the upload begins, so that the clean-up finds the upload even when this process is killed in between.
 */
export const createMultipartUploads = (client: StorageClient) => {
  const getRecordFolder = (key: string): string => `${recordPrefix}${createHash('sha256').update(key).digest('hex')}/`
  const getRecordKey = (key: string, sha256: string): string => getRecordFolder(key) + sha256

  /** Sends a request and reads its reply as XML. */
  const askForXml = async (request: StorageRequest): Promise<XmlElement> =>
    parseXml(client.host, (await client.ask(request)).text)

  const listParts = async (id: string, { key, signal }: Target): Promise<ReadonlyMap<number, string> | undefined> => {
    const parts = new Map<number, string>()
    for (let marker = '0'; ;) {
      const query = { 'part-number-marker': marker, uploadId: id }
      const page = await undefinedIfNotFound(askForXml({ method: 'GET', key, query, signal }))
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

  const findUpload = async (target: Target): Promise<Upload | undefined> => {
    if (target.sha256 === undefined) return undefined
    const key = getRecordKey(target.key, target.sha256)
    const record = await undefinedIfNotFound(client.ask({ method: 'GET', key, signal: target.signal }))
    const [id = ''] = record?.text.split('\n') ?? []
    const parts = id === '' ? undefined : await listParts(id, target)
    return parts && { id, recordKey: key, parts }
  }

  /** The keys of records that were written before a time in milliseconds. */
  const listRecordsBefore = async (
    prefix: string,
    before: number,
    signal: AbortSignal | undefined,
  ): Promise<string[]> => {
    const list = await askForXml({ method: 'GET', key: '', query: { 'list-type': '2', prefix }, signal })
    return findElements(list, 'Contents').flatMap(recordKey =>
      Date.parse(findText(recordKey, 'LastModified') ?? '') < before ? [findText(recordKey, 'Key') ?? ''] : [],
    )
  }

  /** Aborts the uploads of a key that were begun before a time, and removes their records. */
  const abortUploadsBefore = async (key: string, before: number, signal: AbortSignal | undefined): Promise<void> => {
    const list = await askForXml({ method: 'GET', key: '', query: { prefix: key, uploads: '' }, signal })
    for (const upload of findElements(list, 'Upload')) {
      const query = { uploadId: findText(upload, 'UploadId') ?? '' }
      if (findText(upload, 'Key') === key && Date.parse(findText(upload, 'Initiated') ?? '') < before)
        await undefinedIfNotFound(client.ask({ method: 'DELETE', key, query, signal }))
    }
    for (const recordKey of await listRecordsBefore(getRecordFolder(key), before, signal))
      await client.ask({ method: 'DELETE', key: recordKey, signal })
  }

  /** Incomplete uploads only cost space, so a storage that does not allow to list them is no failure. */
  const ignoreStorageErrors = async (work: Promise<void>): Promise<void> =>
    work.catch((error: unknown) => {
      if (!(error instanceof ServiceError)) throw error
    })

  /** Aborts the abandoned uploads of all objects. */
  const abortAbandonedUploads = async (signal: AbortSignal | undefined): Promise<void> => {
    const before = Date.now() - abandonedAfterMs
    for (const recordKey of await listRecordsBefore(recordPrefix, before, signal)) {
      const text = (await undefinedIfNotFound(client.ask({ method: 'GET', key: recordKey, signal })))?.text
      const key = text?.split('\n')[1]
      if (key !== undefined) await abortUploadsBefore(key, before, signal)
    }
  }

  const createUpload = async ({ key, sha256, signal }: Target): Promise<Upload> => {
    const recordKey = getRecordKey(key, sha256 ?? crypto.randomUUID())
    await client.ask({ method: 'PUT', key: recordKey, body: Buffer.from(`\n${key}`), signal })
    const headers = sha256 === undefined ? {} : { 'x-amz-meta-sha256': sha256 }
    const created = await askForXml({ method: 'POST', key, query: { uploads: '' }, headers, signal })
    const id = findText(created, 'UploadId')
    if (!id) throw new ServiceError('upstream', `The storage ${client.host} began an upload and gave no id for it.`)
    await client.ask({ method: 'PUT', key: recordKey, body: Buffer.from(`${id}\n${key}`), signal })
    return { id, recordKey, parts: new Map() }
  }

  return {
    /** Gives the upload that an earlier write has begun for the same bytes, or a new one. */
    async resumeOrCreate(target: Target): Promise<Upload> {
      await ignoreStorageErrors(abortAbandonedUploads(target.signal))
      return (await findUpload(target)) ?? (await createUpload(target))
    },

    /** Sends one part and gives its ETag. */
    async uploadPart({ key }: Target, id: string, number: number, body: Uint8Array, md5: Buffer, signal: AbortSignal) {
      const { headers } = await client.ask({
        method: 'PUT',
        key,
        query: { partNumber: String(number), uploadId: id },
        headers: { 'content-md5': md5.toString('base64') },
        body,
        signal,
      })
      return stripQuotes(headers.etag ?? '')
    },

    /** Completes an upload: joins the parts in their order. */
    async complete(
      { key, sha256, signal }: Target,
      { id, recordKey }: Upload,
      etags: readonly string[],
    ): Promise<void> {
      const parts = etags.map((etag, at) => `<Part><PartNumber>${at + 1}</PartNumber><ETag>"${etag}"</ETag></Part>`)
      const body = Buffer.from(`<CompleteMultipartUpload>${parts.join('')}</CompleteMultipartUpload>`)
      await client.ask({ method: 'POST', key, query: { uploadId: id }, body, signal }).catch(async (error: unknown) => {
        // The upload is complete when the reply to an earlier attempt was lost.
        const found =
          isFault(error, 'not-found') && (await undefinedIfNotFound(client.ask({ method: 'HEAD', key, signal })))
        if (!found || sha256 === undefined || found.headers['x-amz-meta-sha256'] !== sha256) throw error
      })
      await client.ask({ method: 'DELETE', key: recordKey, signal })
    },

    async abort({ key }: Target, { id, recordKey }: Upload): Promise<void> {
      const signal = AbortSignal.timeout(30_000)
      await undefinedIfNotFound(client.ask({ method: 'DELETE', key, query: { uploadId: id }, signal }))
      await client.ask({ method: 'DELETE', key: recordKey, signal })
    },

    /** Aborts all uploads of an object. It must not be written at the same time. */
    abortAll: (key: string, signal: AbortSignal | undefined): Promise<void> =>
      ignoreStorageErrors(abortUploadsBefore(key, Infinity, signal)),
  }
}

export type MultipartUploads = ReturnType<typeof createMultipartUploads>
