import { createHash } from 'node:crypto'
import { isFault, messageOf, ServiceError } from '#lib/errors.ts'
import type { Provider } from '#lib/objects/port/provider.ts'
import { type IndexedFile, largestList, listMagic } from '../chunks/chunk-index.ts'
import type { IndexParser } from '../chunks/index-parser.ts'

/** What ends the names that a push gives to chunk indexes. What an object is, its content says alone. */
export const listEnd = '.chunks.json'

/** Whether what begins with these bytes is a chunk index: the one rule for pulls, for serving and for collections. */
export const isIndex = (bytes: Uint8Array): boolean =>
  listMagic.equals(bytes.subarray(0, Math.min(bytes.length, listMagic.length)))

/** Whether the object that `stat` found is a chunk index. Throws `not-found`, and what the provider does. */
export const isIndexObject = async (
  provider: Provider,
  { path, size }: { readonly path: string; readonly size: number },
  signal?: AbortSignal,
): Promise<boolean> => {
  if (size < listMagic.length || size > largestList) return false
  const range = { start: 0, end: listMagic.length }
  const head: Uint8Array[] = []
  for await (const part of await provider.read(path, { range, ...(signal && { signal }) })) head.push(part)
  return isIndex(Buffer.concat(head))
}

interface Wanted {
  /** Of the index, lower-case hex, where that is known. */
  readonly sha256?: string | undefined
  readonly signal?: AbortSignal | undefined
}

const broken = (path: string, why: string): ServiceError =>
  new ServiceError('upstream', `The chunk index ${path} on the provider cannot be used: ${why}`)

/** The bytes of an index, which are those of the SHA-256; undefined for an object of which the beginning says otherwise. */
const bytesIn = async (
  provider: Provider,
  path: string,
  { sha256, signal }: Wanted,
): Promise<Buffer<ArrayBuffer> | undefined> => {
  const digest = createHash('sha256')
  const parts: Uint8Array[] = []
  let size = 0
  for await (const part of await provider.read(path, { ...(signal && { signal }) })) {
    const isChecked = size >= listMagic.length
    size += part.length
    parts.push(part)
    if (!isChecked && size >= listMagic.length && !isIndex(Buffer.concat(parts))) return undefined
    if (size > largestList) throw broken(path, `it has more than ${largestList} bytes.`)
    digest.update(part)
  }
  if (size < listMagic.length) return undefined
  if (sha256 !== undefined && digest.digest('hex') !== sha256)
    throw broken(path, 'its SHA-256 is another than the catalog says.')
  return Buffer.concat(parts)
}

const parsed = async <T>(path: string, parse: () => Promise<T>): Promise<T> => {
  try {
    return await parse()
  } catch (error) {
    throw isFault(error, 'upstream') ? broken(path, messageOf(error)) : error
  }
}

/**
 * Reads a chunk index from a provider; undefined for an object that is none, of which no more than the beginning is read.
 * Throws `not-found` when it is not there, and `upstream` when it is damaged, or not the one of that SHA-256.
 */
export const readIndex = async (
  provider: Provider,
  path: string,
  parser: IndexParser,
  wanted: Wanted,
): Promise<readonly IndexedFile[] | undefined> => {
  const bytes = await bytesIn(provider, path, wanted)
  return bytes && parsed(path, () => parser.files(bytes))
}

/** As `readIndex`, of which only the digests of the chunks are wanted, as `digestsIn` gives them. */
export const readIndexDigests = async (
  provider: Provider,
  path: string,
  parser: IndexParser,
  wanted: Wanted,
): Promise<Uint8Array | undefined> => {
  const bytes = await bytesIn(provider, path, wanted)
  return bytes && parsed(path, () => parser.digests(bytes))
}
