import { ServiceError } from '#lib/errors.ts'
import { type IndexedFile, largestList, listMagic } from '#lib/packs/chunks/chunk-index.ts'
import type { IndexParser } from '#lib/packs/chunks/index-parser.ts'
import { isIndex } from '#lib/packs/chunk-store/index-object.ts'
import { readBytes } from '#lib/objects/port/bytes.ts'
import { isOutage, withRetry } from '#lib/async/retry.ts'
import { checkedStream } from './checked-stream.ts'
import type { PackSource } from './pack-source.ts'

const tooLarge = (): ServiceError =>
  new ServiceError('upstream', 'The provider sent more of the list of chunks than was asked for.')

/**
 * The files of a pack that is a list of chunks, which it tells by how it begins; undefined for any other pack. Throws
 * `upstream` when it is damaged, hostile, or not the one that the catalog says.
 */
export const listIn = async (
  source: PackSource,
  parser: IndexParser,
  signal: AbortSignal,
): Promise<readonly IndexedFile[] | undefined> => {
  const { size } = source
  if (size < listMagic.length || size > largestList) return undefined
  const read = async (end: number): Promise<ReadableStream<Uint8Array>> => source.read({ start: 0, end }, signal)
  const tried = <T>(work: () => Promise<T>): Promise<T> => (source.near ? work() : withRetry(work, signal, isOutage))
  const head = await tried(async () => readBytes(await read(listMagic.length), listMagic.length, tooLarge))
  if (!isIndex(head)) return undefined
  const bytes = await tried(async () => {
    const checked = checkedStream(await read(size), source)
    const all = await readBytes(checked.stream, size, tooLarge)
    checked.complete()
    return all
  })
  return parser.files(bytes)
}
