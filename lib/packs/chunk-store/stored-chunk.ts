import { promisify } from 'node:util'
import { constants, zstdCompress, zstdDecompress } from 'node:zlib'
import { isFault, messageOf, ServiceError } from '#lib/errors.ts'
import type { Provider } from '#lib/objects/port/provider.ts'
import type { Chunk } from '../chunks/chunk-index.ts'

const compress = promisify(zstdCompress)
const decompress = promisify(zstdDecompress)

/** Faster than most lines; the next levels win little on disks. */
const params = { [constants.ZSTD_c_compressionLevel]: 1 }

/** Where the chunk of this SHA-256 is kept. */
export const chunkPath = (sha256: string): string => `chunks/${sha256.slice(0, 2)}/${sha256}`

/** Whether a chunk is kept at `path`; other things may be in the folder too. */
export const isChunkPath = (path: string): boolean => {
  const sha256 = path.slice(-64)
  return /^[0-9a-f]{64}$/.test(sha256) && path === chunkPath(sha256)
}

/** The SHA-256 of some bytes in lower-case hex, worked out off the event loop. */
export const sha256Of = async (bytes: Uint8Array<ArrayBuffer>): Promise<string> =>
  Buffer.from(await crypto.subtle.digest('SHA-256', bytes)).toString('hex')

/** The bytes to keep for a chunk: zstd where that is smaller. What is as large as its chunk is the chunk itself. */
export const packChunk = async (data: Buffer<ArrayBuffer>): Promise<Buffer<ArrayBuffer>> => {
  const smaller = await compress(data, { params })
  return smaller.length < data.length ? smaller : data
}

const broken = (path: string, why: string): ServiceError =>
  new ServiceError('upstream', `The chunk ${path} ${why}. Remove it where it is kept, and push the machine again.`)

/** Gives what is kept of a chunk, not looked at yet. Throws `not-found` and what the line there does. */
export type StoredChunks = (chunk: Chunk, signal: AbortSignal) => Promise<Buffer<ArrayBuffer>>

/** Gives the bytes of a chunk, which are right. Throws `upstream` when it is missing or is not what its name says. */
export type FetchChunk = (chunk: Chunk, signal: AbortSignal) => Promise<Buffer<ArrayBuffer>>

/** The chunks of a provider. */
export const storedIn =
  (provider: Provider): StoredChunks =>
  async ({ sha256, size }, signal) => {
    const path = chunkPath(sha256)
    const stream = await provider.read(path, { signal })
    const parts: Uint8Array[] = []
    let seen = 0
    for await (const part of stream) {
      seen += part.length
      if (seen > size) throw broken(path, 'is larger than it can be')
      parts.push(part)
    }
    return Buffer.concat(parts)
  }

/** The bytes of a chunk of which `stored` is kept. Throws `upstream` when that is not what its name says. */
export const unpackChunk = async (
  { sha256, size }: Chunk,
  stored: Buffer<ArrayBuffer>,
): Promise<Buffer<ArrayBuffer>> => {
  const path = chunkPath(sha256)
  const data =
    stored.length < size
      ? await decompress(stored, { maxOutputLength: size }).catch((error: unknown) => {
          throw broken(path, `cannot be unpacked (${messageOf(error)})`)
        })
      : stored
  if (data.length !== size || (await sha256Of(data)) !== sha256)
    throw broken(path, 'has other bytes than its name says')
  return data
}

/** Says of a chunk that is not there what that means; throws other failures as they are. */
export const missingChunk =
  ({ sha256 }: Chunk) =>
  (error: unknown): never => {
    if (!isFault(error, 'not-found')) throw error
    throw new ServiceError('upstream', `The chunk ${chunkPath(sha256)} is not there any more. Push the machine again.`)
  }

/** Fetches chunks and checks them. */
export const fetchFrom =
  (stored: StoredChunks): FetchChunk =>
  async (chunk, signal) =>
    unpackChunk(chunk, await stored(chunk, signal).catch(missingChunk(chunk)))
