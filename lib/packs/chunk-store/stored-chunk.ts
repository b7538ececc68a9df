import { promisify } from 'node:util'
import { constants, zstdCompress, zstdDecompress } from 'node:zlib'
import { isFault, messageOf, ServiceError } from '#lib/errors.ts'
import type { Provider } from '#lib/objects/port/provider.ts'
import type { Chunk } from '../chunks/chunk-index.ts'

const compress = promisify(zstdCompress)
const decompress = promisify(zstdDecompress)

/** Level 1 is faster than most networks. The next levels save little on disk images. */
const params = { [constants.ZSTD_c_compressionLevel]: 1 }

/** Returns the path at which the chunk with this SHA-256 is stored. */
export const getChunkPath = (sha256: string): string => `chunks/${sha256.slice(0, 2)}/${sha256}`

/** Says whether an object at this path is a chunk. The folder can hold other objects too. */
export const isChunkPath = (path: string): boolean => {
  const sha256 = path.slice(-64)
  return /^[0-9a-f]{64}$/.test(sha256) && path === getChunkPath(sha256)
}

/** Computes the SHA-256 of bytes in lower-case hex, outside of the event loop. */
export const computeSha256 = async (bytes: Uint8Array<ArrayBuffer>): Promise<string> =>
  Buffer.from(await crypto.subtle.digest('SHA-256', bytes)).toString('hex')

/**
 * Returns the bytes to store for a chunk: compressed by zstd if that makes it smaller, else the chunk itself. So stored bytes
 * of the size of the chunk are never compressed.
 */
export const compressChunk = async (data: Buffer<ArrayBuffer>): Promise<Buffer<ArrayBuffer>> => {
  const compressed = await compress(data, { params })
  return compressed.length < data.length ? compressed : data
}

const createDamagedChunkError = (path: string, why: string): ServiceError =>
  new ServiceError('upstream', `The chunk ${path} ${why}. Remove it from its storage, and push the machine again.`)

/** Reads the stored bytes of a chunk, not verified yet. Throws `not-found` and what the connection fails with. */
export type ReadStoredChunk = (chunk: Chunk, signal: AbortSignal) => Promise<Buffer<ArrayBuffer>>

/** Fetches the verified bytes of a chunk. Throws `upstream` when it is missing or is not what its digest says. */
export type FetchChunk = (chunk: Chunk, signal: AbortSignal) => Promise<Buffer<ArrayBuffer>>

/** Creates a reader of the chunks that are stored on a provider. */
export const createStoredChunkReader =
  (provider: Provider): ReadStoredChunk =>
  async ({ sha256, size }, signal) => {
    const path = getChunkPath(sha256)
    const stream = await provider.read(path, { signal })
    const parts: Uint8Array[] = []
    let received = 0
    for await (const part of stream) {
      received += part.length
      if (received > size) throw createDamagedChunkError(path, 'is larger than it can be')
      parts.push(part)
    }
    return Buffer.concat(parts)
  }

/** Returns the bytes of a chunk from its stored bytes. Throws `upstream` when they are not what the digest says. */
export const decompressChunk = async (
  { sha256, size }: Chunk,
  stored: Buffer<ArrayBuffer>,
): Promise<Buffer<ArrayBuffer>> => {
  const path = getChunkPath(sha256)
  const data =
    stored.length < size
      ? await decompress(stored, { maxOutputLength: size }).catch((error: unknown) => {
          throw createDamagedChunkError(path, `cannot be unpacked (${messageOf(error)})`)
        })
      : stored
  if (data.length !== size || (await computeSha256(data)) !== sha256)
    throw createDamagedChunkError(path, 'has other bytes than its name says')
  return data
}

/** Returns the error for a chunk that could not be read: `upstream` for a missing one, otherwise the error itself. */
export const toChunkError = ({ sha256 }: Chunk, error: unknown): unknown =>
  isFault(error, 'not-found')
    ? new ServiceError('upstream', `The chunk ${getChunkPath(sha256)} is missing. Push the machine again.`)
    : error

/** Creates a function that fetches chunks and verifies them. */
export const createChunkFetcher =
  (readStoredChunk: ReadStoredChunk): FetchChunk =>
  async (chunk, signal) => {
    const stored = await readStoredChunk(chunk, signal).catch((error: unknown) => {
      throw toChunkError(chunk, error)
    })
    return decompressChunk(chunk, stored)
  }
