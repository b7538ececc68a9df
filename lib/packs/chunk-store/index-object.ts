import { createHash } from 'node:crypto'
import { isFault, messageOf, ServiceError } from '#lib/errors.ts'
import type { Provider } from '#lib/objects/port/provider.ts'
import { type IndexedFile, indexMagic, maxIndexSize } from '../chunks/chunk-index.ts'
import type { IndexParser } from '../chunks/index-parser.ts'

/** The suffix that a push gives to the name of a chunk index. Only the content says what an object is. */
export const indexSuffix = '.chunks.json'

/** Says whether an object that begins with these bytes is a chunk index. Pulls, downloads and collections use this rule. */
export const isChunkIndex = (bytes: Uint8Array): boolean =>
  indexMagic.equals(bytes.subarray(0, Math.min(bytes.length, indexMagic.length)))

/** Says whether an object is a chunk index. Throws `not-found`, and what the provider throws. */
export const isChunkIndexObject = async (
  provider: Provider,
  { path, size }: { readonly path: string; readonly size: number },
  signal?: AbortSignal,
): Promise<boolean> => {
  if (size < indexMagic.length || size > maxIndexSize) return false
  const range = { start: 0, end: indexMagic.length }
  const head: Uint8Array[] = []
  for await (const part of await provider.read(path, { range, ...(signal && { signal }) })) head.push(part)
  return isChunkIndex(Buffer.concat(head))
}

interface ReadIndexOptions {
  /** The digest that the index must have, in lower-case hex. Left out when it is unknown. */
  readonly sha256?: string | undefined
  readonly signal?: AbortSignal | undefined
}

const createUnusableIndexError = (path: string, why: string): ServiceError =>
  new ServiceError('upstream', `The chunk index ${path} on the provider cannot be used: ${why}`)

/** Reads the bytes of an index. Returns undefined when the first bytes show that the object is something else. */
const readIndexBytes = async (
  provider: Provider,
  path: string,
  { sha256, signal }: ReadIndexOptions,
): Promise<Buffer<ArrayBuffer> | undefined> => {
  const digest = createHash('sha256')
  const parts: Uint8Array[] = []
  let size = 0
  for await (const part of await provider.read(path, { ...(signal && { signal }) })) {
    const isChecked = size >= indexMagic.length
    size += part.length
    parts.push(part)
    if (!isChecked && size >= indexMagic.length && !isChunkIndex(Buffer.concat(parts))) return undefined
    if (size > maxIndexSize) throw createUnusableIndexError(path, `it has more than ${maxIndexSize} bytes.`)
    digest.update(part)
  }
  if (size < indexMagic.length) return undefined
  if (sha256 !== undefined && digest.digest('hex') !== sha256)
    throw createUnusableIndexError(path, 'its SHA-256 differs from the one in the catalog.')
  return Buffer.concat(parts)
}

const withParseErrors = async <T>(path: string, parse: () => Promise<T>): Promise<T> => {
  try {
    return await parse()
  } catch (error) {
    throw isFault(error, 'upstream') ? createUnusableIndexError(path, messageOf(error)) : error
  }
}

/**
 * Reads a chunk index from a provider. Returns undefined for any other object, of which it reads only the first bytes.
 * Throws `not-found`, and `upstream` for an index that is damaged or has another digest.
 */
export const readChunkIndex = async (
  provider: Provider,
  path: string,
  parser: IndexParser,
  options: ReadIndexOptions,
): Promise<readonly IndexedFile[] | undefined> => {
  const bytes = await readIndexBytes(provider, path, options)
  return bytes && withParseErrors(path, () => parser.parseFiles(bytes))
}

/** Reads a chunk index like `readChunkIndex`, but returns only the digests of its chunks, as `collectDigests` does. */
export const readChunkDigests = async (
  provider: Provider,
  path: string,
  parser: IndexParser,
  options: ReadIndexOptions,
): Promise<Uint8Array | undefined> => {
  const bytes = await readIndexBytes(provider, path, options)
  return bytes && withParseErrors(path, () => parser.parseDigests(bytes))
}
