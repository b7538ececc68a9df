import { createHash } from 'node:crypto'
import { messageOf, ServiceError } from '#lib/errors.ts'
import { bytesOf } from '../providers/bytes.ts'
import type { Provider } from '../providers/provider.ts'
import { type ChunkedFile, largestList, listMagic, parseChunkedFiles } from './chunk-list.ts'

/** What ends the names of lists on a provider: by it those are found whose chunks have to stay. */
export const listEnd = '.chunks.json'

/** Whether the object of this path is a list. */
export const isListPath = (path: string): boolean => path.endsWith(listEnd)

/** Whether what begins with these bytes is a list. */
export const isList = (bytes: Uint8Array): boolean =>
  listMagic.equals(bytes.subarray(0, Math.min(bytes.length, listMagic.length)))

const broken = (path: string, why: string): ServiceError =>
  new ServiceError('upstream', `The list of chunks ${path} on the provider cannot be used: ${why}`)

/**
 * Reads a list from a provider. Throws `not-found` when it is not there, and `upstream` when it is no list, or not the one
 * of that SHA-256 (lower-case hex).
 */
export const readListObject = async (
  provider: Provider,
  path: string,
  { sha256, signal }: { readonly sha256?: string; readonly signal?: AbortSignal | undefined },
): Promise<readonly ChunkedFile[]> => {
  const stream = await provider.read(path, { ...(signal && { signal }) })
  const bytes = await bytesOf(stream, largestList, () => broken(path, `it has more than ${largestList} bytes.`))
  if (sha256 !== undefined && createHash('sha256').update(bytes).digest('hex') !== sha256)
    throw broken(path, 'its SHA-256 is another than the catalog says.')
  try {
    return parseChunkedFiles(Buffer.from(bytes).toString())
  } catch (error) {
    throw broken(path, messageOf(error))
  }
}
