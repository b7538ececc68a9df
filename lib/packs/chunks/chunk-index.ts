import * as z from 'zod'
import { messageOf, ServiceError } from '#lib/errors.ts'
import { describeFirstMistake } from '#lib/schema-errors.ts'
import { isWithinJsonLimits } from '#lib/json-limits.ts'
import { createNameSet } from '../file-names.ts'
import type { ZeroRun } from '../hole-finder.ts'
import { imageChunkSizes } from './chunker.ts'

const sha256 = z.string().regex(/^[0-9a-f]{64}$/)

/** A part of a file, stored under its SHA-256 (lower-case hex). */
export interface Chunk {
  readonly sha256: string
  readonly size: number
}

/** A part of a file in a chunk index. */
export type IndexEntry = Chunk | ZeroRun

/** The content of a file as chunks and runs of zeros, in order. */
export interface ChunkedContent {
  /** Bytes of the file. */
  readonly size: number
  readonly chunks: Iterable<IndexEntry>
}

/** Chunked content that is completely in memory. */
export interface ListedContent extends ChunkedContent {
  readonly chunks: readonly IndexEntry[]
}

/** A file of a machine that is stored as chunks. */
export interface IndexedFile extends ChunkedContent {
  /** Segments joined by `/`, as in a pack. */
  readonly name: string
  readonly mode: number
  /** The digest of the whole file in lower-case hex. */
  readonly sha256: string
}

/** An indexed file that is completely in memory. */
export interface ListedFile extends IndexedFile, ListedContent {
  readonly chunks: readonly IndexEntry[]
}

const format = 'vmhost-chunks-1'

const isCount = (value: unknown, max: number): boolean =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 1 && value <= max

const isIndexEntry = (value: unknown): value is IndexEntry => {
  if (typeof value !== 'object' || value === null) return false
  if ('zeros' in value) return isCount(value.zeros, Number.MAX_SAFE_INTEGER)
  if (!('sha256' in value) || !('size' in value) || !isCount(value.size, imageChunkSizes.max)) return false
  return typeof value.sha256 === 'string' && /^[0-9a-f]{64}$/.test(value.sha256)
}

// Checked by hand and only up to the first mistake: a schema would report each of the millions that an index can have. It
// need not refuse further members, because the canonical text has none.
const Entries = z.custom<IndexEntry[]>(
  value => Array.isArray(value) && value.every(isIndexEntry),
  'must be chunks with a SHA-256 and a size, or runs of zeros',
)

const IndexFile = z
  .strictObject({
    name: z.string(),
    size: z.int().min(0),
    mode: z.int().min(0).max(0o777),
    sha256,
    chunks: Entries,
  })
  .refine(
    ({ size, chunks }) =>
      size === chunks.reduce((sum, entry) => sum + ('zeros' in entry ? entry.zeros : entry.size), 0),
    'the chunks together must be as large as the file',
  )
  .refine(
    ({ chunks }) => chunks.slice(1).every((entry, at) => !('zeros' in entry && 'zeros' in (chunks[at] ?? {}))),
    'zeros after zeros must be one run',
  )
const IndexShape = z.strictObject({ files: z.array(IndexFile).max(100_000), format: z.literal(format) })

const createDamagedIndexError = (why: string): ServiceError =>
  new ServiceError('upstream', `The chunk index is damaged: ${why}.`)

/** The first bytes of every index that names a chunk. No tar, gzip, zstd or sidecar begins with them. */
export const indexMagic = Buffer.from('{"files":[{"chunks":[')

/** Maximum number of bytes of an index: enough for about 700 GB of data, holes not counted. */
export const maxIndexSize = 64 * 1024 * 1024

/** Maximum number of JSON values of an index. A chunk takes three. */
const maxIndexValues = 3_000_000

/** Encodes an index as JSON with sorted keys and without spaces. The same files in the same order give the same text. */
export const encodeChunkIndex = (files: readonly IndexedFile[]): string =>
  JSON.stringify({
    files: files.map(file => ({
      chunks: Array.from(file.chunks, entry =>
        'zeros' in entry ? { zeros: entry.zeros } : { sha256: entry.sha256, size: entry.size },
      ),
      mode: file.mode,
      name: file.name,
      sha256: file.sha256,
      size: file.size,
    })),
    format,
  })

/**
 * Parses the text of an index. That can take seconds, so `index-parser.ts` does it in a thread. Throws `upstream` for a
 * damaged text, for one that `encodeChunkIndex` would not give, and for names that a pack could not have.
 */
export const parseChunkIndex = (text: string): readonly ListedFile[] => {
  if (!isWithinJsonLimits(Buffer.from(text), maxIndexValues))
    throw createDamagedIndexError('it has too many values, or they are nested too deeply')
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw createDamagedIndexError(messageOf(error))
  }
  const parsed = IndexShape.safeParse(value)
  if (!parsed.success) throw createDamagedIndexError(describeFirstMistake(parsed.error))
  const { files } = parsed.data
  if (encodeChunkIndex(files) !== text) throw createDamagedIndexError('its text is not the canonical one')
  const names = createNameSet()
  try {
    for (const { name } of files) names.add(name, 'file')
  } catch (error) {
    throw createDamagedIndexError(messageOf(error))
  }
  return files
}

/** Collects the chunks of files by their digests, each once. */
export const collectChunks = (files: readonly ChunkedContent[]): ReadonlyMap<string, Chunk> =>
  new Map(
    files.flatMap(({ chunks }) =>
      [...chunks].flatMap(entry => ('sha256' in entry ? [[entry.sha256, entry] as const] : [])),
    ),
  )
