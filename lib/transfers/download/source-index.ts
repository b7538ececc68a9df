import { ServiceError } from '#lib/errors.ts'
import { type IndexedFile, indexMagic, maxIndexSize } from '#lib/packs/chunks/chunk-index.ts'
import type { IndexParser } from '#lib/packs/chunks/index-parser.ts'
import { isChunkIndex } from '#lib/packs/chunk-store/index-object.ts'
import { readBytes } from '#lib/async/read-bytes.ts'
import { isOutage, withRetry } from '#lib/async/retry.ts'
import { createPackVerifier } from './pack-verifier.ts'
import type { PackSource } from './pack-source.ts'

const createTooManyBytesError = (): ServiceError =>
  new ServiceError('upstream', 'The provider sent more of the chunk index than the service asked for.')

/**
 * Reads the files of a source that is a chunk index, which its first bytes show. Returns undefined for any other pack.
 * Throws `upstream` for an index that is damaged, hostile or not what the catalog says.
 */
export const readSourceIndex = async (
  source: PackSource,
  parser: IndexParser,
  signal: AbortSignal,
): Promise<readonly IndexedFile[] | undefined> => {
  const { size } = source
  if (size < indexMagic.length || size > maxIndexSize) return undefined
  const readTo = async (end: number): Promise<ReadableStream<Uint8Array>> => source.read({ start: 0, end }, signal)
  const retry = <T>(work: () => Promise<T>): Promise<T> => (source.isLocal ? work() : withRetry(work, signal, isOutage))
  const head = await retry(async () =>
    readBytes(await readTo(indexMagic.length), indexMagic.length, createTooManyBytesError),
  )
  if (!isChunkIndex(head)) return undefined
  const bytes = await retry(async () => {
    const verifier = createPackVerifier(await readTo(size), source)
    const index = await readBytes(verifier.stream, size, createTooManyBytesError)
    verifier.verifyComplete()
    return index
  })
  return parser.parseFiles(bytes)
}
