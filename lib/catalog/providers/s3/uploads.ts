import { createHash } from 'node:crypto'
import { isFault, ServiceError } from '#lib/errors.ts'
import { hidden } from '../object-path.ts'
import type { Client } from './client.ts'
import { elements, textIn } from './xml.ts'

/** A multipart upload under way. */
export interface Upload {
  readonly id: string
  /** The key of its note. */
  readonly note: string
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

const notes = `${hidden}uploads/`

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
 * hidden object named by key and SHA-256, a note. It is written before the upload begins, too: so that whoever sweeps
 * finds the upload, whenever its process was killed.
 */
export const createUploads = (client: Client) => {
  const notesOf = (key: string): string => `${notes}${createHash('sha256').update(key).digest('hex')}/`
  const noteOf = (key: string, sha256: string): string => notesOf(key) + sha256

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
    const [id = ''] = note?.text.split('\n') ?? []
    const parts = id === '' ? undefined : await partsOf(id, target)
    return parts && { id, note: key, parts }
  }

  /** The keys of notes that were written before a time in milliseconds. */
  const notesBefore = async (prefix: string, before: number, signal: AbortSignal | undefined): Promise<string[]> => {
    const { text } = await client.ask({ method: 'GET', key: '', query: { 'list-type': '2', prefix }, signal })
    return elements(text, 'Contents').flatMap(note =>
      Date.parse(textIn(note, 'LastModified') ?? '') < before ? [textIn(note, 'Key') ?? ''] : [],
    )
  }

  /** Ends the uploads of a key that were begun before a time, and removes their notes. */
  const endBefore = async (key: string, before: number, signal: AbortSignal | undefined): Promise<void> => {
    const { text } = await client.ask({ method: 'GET', key: '', query: { prefix: key, uploads: '' }, signal })
    for (const upload of elements(text, 'Upload')) {
      const query = { uploadId: textIn(upload, 'UploadId') ?? '' }
      if (textIn(upload, 'Key') === key && Date.parse(textIn(upload, 'Initiated') ?? '') < before)
        await ifThere(client.ask({ method: 'DELETE', key, query, signal }))
    }
    for (const note of await notesBefore(notesOf(key), before, signal))
      await client.ask({ method: 'DELETE', key: note, signal })
  }

  /** What is left of uploads only costs room: a storage that forbids to look for it is no failure. */
  const orNothing = async (work: Promise<void>): Promise<void> =>
    work.catch((error: unknown) => {
      if (!(error instanceof ServiceError)) throw error
    })

  /** Ends all uploads that nobody goes on with, whatever they are of. */
  const sweep = async (signal: AbortSignal | undefined): Promise<void> => {
    const before = Date.now() - abandonedAfter
    for (const note of await notesBefore(notes, before, signal)) {
      const text = (await ifThere(client.ask({ method: 'GET', key: note, signal })))?.text
      const key = text?.split('\n')[1]
      if (key !== undefined) await endBefore(key, before, signal)
    }
  }

  const create = async ({ key, sha256, signal }: Target): Promise<Upload> => {
    const note = noteOf(key, sha256 ?? crypto.randomUUID())
    await client.ask({ method: 'PUT', key: note, body: Buffer.from(`\n${key}`), signal })
    const headers = sha256 === undefined ? {} : { 'x-amz-meta-sha256': sha256 }
    const { text } = await client.ask({ method: 'POST', key, query: { uploads: '' }, headers, signal })
    const id = textIn(text, 'UploadId')
    if (!id) throw new ServiceError('upstream', `The storage ${client.host} began an upload and did not name it.`)
    await client.ask({ method: 'PUT', key: note, body: Buffer.from(`${id}\n${key}`), signal })
    return { id, note, parts: new Map() }
  }

  return {
    /** The upload that an earlier try has begun for the same bytes, or a new one. */
    async open(target: Target): Promise<Upload> {
      await orNothing(sweep(target.signal))
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
    async complete({ key, sha256, signal }: Target, { id, note }: Upload, etags: readonly string[]): Promise<void> {
      const parts = etags.map((etag, at) => `<Part><PartNumber>${at + 1}</PartNumber><ETag>"${etag}"</ETag></Part>`)
      const body = Buffer.from(`<CompleteMultipartUpload>${parts.join('')}</CompleteMultipartUpload>`)
      await client.ask({ method: 'POST', key, query: { uploadId: id }, body, signal }).catch(async (error: unknown) => {
        // It was made again after a reply that got lost, when it had been done.
        const found = isFault(error, 'not-found') && (await ifThere(client.ask({ method: 'HEAD', key, signal })))
        if (!found || sha256 === undefined || found.headers['x-amz-meta-sha256'] !== sha256) throw error
      })
      await client.ask({ method: 'DELETE', key: note, signal })
    },

    async abort({ key }: Target, { id, note }: Upload): Promise<void> {
      const signal = AbortSignal.timeout(30_000)
      await ifThere(client.ask({ method: 'DELETE', key, query: { uploadId: id }, signal }))
      await client.ask({ method: 'DELETE', key: note, signal })
    },

    /** Ends all uploads of an object, which nobody may be writing. */
    end: (key: string, signal: AbortSignal | undefined): Promise<void> => orNothing(endBefore(key, Infinity, signal)),
  }
}

export type Uploads = ReturnType<typeof createUploads>
