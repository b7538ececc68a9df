import { createHash } from 'node:crypto'
import { isFault, ServiceError } from '#lib/errors.ts'
import { hidden } from '../object-path.ts'
import type { Client } from './client.ts'
import { elements, textIn } from './xml.ts'

/** A multipart upload under way. */
export interface Upload {
  readonly id: string
  /** The ETags of the parts that are there, by their numbers from 1. */
  readonly parts: ReadonlyMap<number, string>
}

interface Target {
  readonly key: string
  /** Of the whole; with it the upload can be found again. */
  readonly sha256: string | undefined
  readonly signal: AbortSignal | undefined
}

/** Nobody goes on with an upload of this age. */
const abandonedAfter = 7 * 24 * 3_600_000

/** Parts of an upload. */
const mostParts = 10_000

const withoutQuotes = (etag: string): string => etag.replace(/"/g, '')

const ifThere = async <T>(promise: Promise<T>): Promise<T | undefined> =>
  promise.catch((error: unknown) => {
    if (isFault(error, 'not-found')) return undefined
    throw error
  })

/**
 * Uploads that a later try finds again. S3 tells an upload's id and key, and not what it is of, so the id is kept in a
 * hidden object named by key and SHA-256.
 */
export const createUploads = (client: Client) => {
  const noteOf = (key: string, sha256: string): string =>
    `${hidden}uploads/${createHash('sha256').update(key).digest('hex')}/${sha256}`

  const partsOf = async (id: string, { key, signal }: Target): Promise<ReadonlyMap<number, string> | undefined> => {
    const parts = new Map<number, string>()
    for (let marker = '0'; ;) {
      const query = { 'part-number-marker': marker, uploadId: id }
      const page = await ifThere(client.ask({ method: 'GET', key, query, signal }))
      if (!page) return undefined
      for (const part of elements(page.text, 'Part')) {
        const number = Number(textIn(part, 'PartNumber'))
        if (number <= mostParts) parts.set(number, withoutQuotes(textIn(part, 'ETag') ?? ''))
      }
      const next = Number(textIn(page.text, 'NextPartNumberMarker'))
      // The numbers grow, or the pages would have no end.
      if (textIn(page.text, 'IsTruncated') !== 'true' || !(next > Number(marker) && next <= mostParts)) return parts
      marker = String(next)
    }
  }

  const find = async (target: Target): Promise<Upload | undefined> => {
    if (target.sha256 === undefined) return undefined
    const key = noteOf(target.key, target.sha256)
    const note = await ifThere(client.ask({ method: 'GET', key, signal: target.signal }))
    const parts = note && (await partsOf(note.text, target))
    return parts && { id: note.text, parts }
  }

  const abort = async ({ key, sha256 }: Target, id: string): Promise<void> => {
    const signal = AbortSignal.timeout(30_000)
    await ifThere(client.ask({ method: 'DELETE', key, query: { uploadId: id }, signal }))
    if (sha256 !== undefined) await client.ask({ method: 'DELETE', key: noteOf(key, sha256), signal })
  }

  /** Ends the uploads of a key that nobody goes on with. They only cost room: a storage that forbids it is no failure. */
  const sweep = async ({ key, signal }: Target): Promise<void> => {
    const before = Date.now() - abandonedAfter
    const isOld = (xml: string, name: string): boolean => Date.parse(textIn(xml, name) ?? '') < before
    try {
      const uploads = await client.ask({ method: 'GET', key: '', query: { prefix: key, uploads: '' }, signal })
      for (const upload of elements(uploads.text, 'Upload'))
        if (textIn(upload, 'Key') === key && isOld(upload, 'Initiated'))
          await client.ask({ method: 'DELETE', key, query: { uploadId: textIn(upload, 'UploadId') ?? '' }, signal })
      const query = { 'list-type': '2', prefix: noteOf(key, '') }
      const notes = await client.ask({ method: 'GET', key: '', query, signal })
      for (const note of elements(notes.text, 'Contents'))
        if (isOld(note, 'LastModified')) await client.ask({ method: 'DELETE', key: textIn(note, 'Key') ?? '', signal })
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error
    }
  }

  const create = async ({ key, sha256, signal }: Target): Promise<Upload> => {
    const headers = sha256 === undefined ? {} : { 'x-amz-meta-sha256': sha256 }
    const { text } = await client.ask({ method: 'POST', key, query: { uploads: '' }, headers, signal })
    const id = textIn(text, 'UploadId')
    if (!id) throw new ServiceError('upstream', `The storage ${client.host} began an upload and did not name it.`)
    if (sha256 !== undefined)
      await client.ask({ method: 'PUT', key: noteOf(key, sha256), body: Buffer.from(id), signal })
    return { id, parts: new Map() }
  }

  return {
    /** The upload that an earlier try has begun for the same bytes, or a new one. */
    async open(target: Target): Promise<Upload> {
      await sweep(target)
      return (await find(target)) ?? (await create(target))
    },

    /** Sends one part; gives its ETag. */
    async send({ key }: Target, id: string, number: number, body: Uint8Array, md5: Buffer, signal: AbortSignal) {
      const { headers } = await client.ask({
        method: 'PUT',
        key,
        query: { partNumber: String(number), uploadId: id },
        headers: { 'content-md5': md5.toString('base64') },
        body,
        signal,
      })
      return withoutQuotes(headers.etag ?? '')
    },

    /** Puts the parts, in their order, together as the object. */
    async complete(target: Target, id: string, etags: readonly string[]): Promise<void> {
      const { key, sha256, signal } = target
      const parts = etags.map((etag, at) => `<Part><PartNumber>${at + 1}</PartNumber><ETag>"${etag}"</ETag></Part>`)
      const body = Buffer.from(`<CompleteMultipartUpload>${parts.join('')}</CompleteMultipartUpload>`)
      await client.ask({ method: 'POST', key, query: { uploadId: id }, body, signal }).catch(async (error: unknown) => {
        // It was made again after a reply that got lost, when it had been done.
        const found = isFault(error, 'not-found') && (await ifThere(client.ask({ method: 'HEAD', key, signal })))
        if (!found || sha256 === undefined || found.headers['x-amz-meta-sha256'] !== sha256) throw error
      })
      if (sha256 !== undefined) await client.ask({ method: 'DELETE', key: noteOf(key, sha256), signal })
    },

    abort,
  }
}
