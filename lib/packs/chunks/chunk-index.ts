import * as z from 'zod'
import { messageOf, ServiceError } from '#lib/errors.ts'
import { firstMistake } from '#lib/schema-errors.ts'
import { isWithinJsonLimits } from '#lib/json-limits.ts'
import { createNames } from '../file-names.ts'
import type { Zeros } from '../sparse-file.ts'
import { imageSizes } from './chunker.ts'

const sha256 = z.string().regex(/^[0-9a-f]{64}$/)

/** Bytes of a file that are kept under the name of their SHA-256 (lower-case hex). */
export interface Chunk {
  readonly sha256: string
  readonly size: number
}

/** What a file consists of, in order; sizes are in bytes, `size` is that of the file. */
export interface Chunked {
  readonly size: number
  readonly chunks: Iterable<Chunk | Zeros>
}

/** The same, all of it in memory. */
export interface ChunkList extends Chunked {
  readonly chunks: readonly (Chunk | Zeros)[]
}

/** A file of a machine that is kept as chunks. */
export interface IndexedFile extends Chunked {
  /** Segments joined by `/`, such as packs have. */
  readonly name: string
  readonly mode: number
  /** Of the whole file, lower-case hex. */
  readonly sha256: string
}

/** The same, all of it in memory. */
export interface ChunkedFile extends IndexedFile, ChunkList {
  readonly chunks: readonly (Chunk | Zeros)[]
}

const format = 'vmhost-chunks-1'

const isCount = (value: unknown, most: number): boolean =>
  Number.isSafeInteger(value) && (value as number) >= 1 && (value as number) <= most

/** More members than these the canonical text does not have. */
const isPart = (value: unknown): value is Chunk | Zeros => {
  if (typeof value !== 'object' || value === null) return false
  if ('zeros' in value) return isCount(value.zeros, Number.MAX_SAFE_INTEGER)
  if (!('sha256' in value) || !('size' in value) || !isCount(value.size, imageSizes.most)) return false
  return typeof value.sha256 === 'string' && /^[0-9a-f]{64}$/.test(value.sha256)
}

// By hand, and no further than the first mistake: a schema would describe each of the millions that a list can have.
const Parts = z.custom<(Chunk | Zeros)[]>(
  value => Array.isArray(value) && value.every(isPart),
  'must be chunks, which have a SHA-256 and a size, and runs of zeros',
)

const File = z
  .strictObject({
    name: z.string(),
    size: z.int().min(0),
    mode: z.int().min(0).max(0o777),
    sha256,
    chunks: Parts,
  })
  .refine(
    ({ size, chunks }) => size === chunks.reduce((sum, one) => sum + ('zeros' in one ? one.zeros : one.size), 0),
    'the chunks together must be as large as the file',
  )
  .refine(
    ({ chunks }) => chunks.every((one, at) => !('zeros' in one && at > 0 && 'zeros' in chunks[at - 1]!)),
    'zeros after zeros must be one run',
  )
const FilesShape = z.strictObject({ files: z.array(File).max(100_000), format: z.literal(format) })

const broken = (why: string): ServiceError => new ServiceError('upstream', `The list of chunks is not one: ${why}.`)

/** What every list begins with that names a chunk, and no tar, gzip, zstd or side file does. */
export const listMagic = Buffer.from('{"files":[{"chunks":[')

/** Bytes of the largest list that is read: of about 700 GB that are not holes. */
export const largestList = 64 * 1024 * 1024

/** Values of such a list: three for each chunk. */
const mostValues = 3_000_000

/** The text of the list of a machine: JSON with sorted keys and no spaces, one text for the same files in one order. */
export const encodeChunkedFiles = (files: readonly IndexedFile[]): string =>
  JSON.stringify({
    files: files.map(file => ({
      chunks: Array.from(file.chunks, one =>
        'zeros' in one ? { zeros: one.zeros } : { sha256: one.sha256, size: one.size },
      ),
      mode: file.mode,
      name: file.name,
      sha256: file.sha256,
      size: file.size,
    })),
    format,
  })

/**
 * Reads the text of a list, which may take seconds: `index-parser.ts` does it in a thread. Throws `upstream`, also for a text
 * that `encodeChunkedFiles` would not give, and for names that a pack could not have.
 */
export const parseChunkedFiles = (text: string): readonly ChunkedFile[] => {
  if (!isWithinJsonLimits(Buffer.from(text), mostValues))
    throw broken('it has too many values, or too deep in each other')
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw broken(messageOf(error))
  }
  const parsed = FilesShape.safeParse(value)
  if (!parsed.success) throw broken(firstMistake(parsed.error))
  const { files } = parsed.data
  if (encodeChunkedFiles(files) !== text) throw broken('its text is not the canonical one')
  const names = createNames()
  try {
    for (const { name } of files) names.add(name, 'file')
  } catch (error) {
    throw broken(messageOf(error))
  }
  return files
}

/** The chunks of files, each once. */
export const chunksOf = (files: readonly Chunked[]): ReadonlyMap<string, Chunk> =>
  new Map(
    files.flatMap(({ chunks }) => [...chunks].flatMap(one => ('sha256' in one ? [[one.sha256, one] as const] : []))),
  )
