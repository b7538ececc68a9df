import { ServiceError } from '#lib/errors.ts'
import { type ChunkedFile, largestList, listMagic, parseChunkedFiles } from '../chunks/chunk-list.ts'
import { isList } from '../chunks/list-object.ts'
import { bytesOf } from '../providers/bytes.ts'
import { checkedStream } from './checked-stream.ts'
import type { PackSource } from './pack-source.ts'
import { retried } from './retried.ts'

const tooLarge = (): ServiceError =>
  new ServiceError('upstream', 'The provider sent more of the list of chunks than was asked for.')

/**
 * The files of a pack that is a list of chunks, which it tells by how it begins; undefined for any other pack. Throws
 * `upstream` when it is not the one that the catalog says, and `invalid` when it is damaged or hostile.
 */
export const listIn = async (source: PackSource, signal: AbortSignal): Promise<readonly ChunkedFile[] | undefined> => {
  const { size } = source
  if (size < listMagic.length || size > largestList) return undefined
  const read = async (end: number): Promise<ReadableStream<Uint8Array>> => source.read({ start: 0, end }, signal)
  const tried = <T>(work: () => Promise<T>): Promise<T> => (source.near ? work() : retried(signal, work))
  const head = await tried(async () => bytesOf(await read(listMagic.length), listMagic.length, tooLarge))
  if (!isList(head)) return undefined
  const bytes = await tried(async () => {
    const checked = checkedStream(await read(size), source)
    const all = await bytesOf(checked.stream, size, tooLarge)
    checked.complete()
    return all
  })
  return parseChunkedFiles(Buffer.from(bytes).toString())
}
