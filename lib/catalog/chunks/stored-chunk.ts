import { promisify } from 'node:util'
import { constants, zstdCompress, zstdDecompress } from 'node:zlib'
import { isFault, messageOf, ServiceError } from '#lib/errors.ts'
import type { Provider } from '../providers/provider.ts'
import type { Chunk } from './chunk-list.ts'

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

/** What is kept at `path`, which can be `most` bytes. */
const storedBytes = async (
  provider: Provider,
  path: string,
  most: number,
  signal: AbortSignal,
): Promise<Buffer<ArrayBuffer>> => {
  const stream = await provider.read(path, { signal }).catch((error: unknown) => {
    if (!isFault(error, 'not-found')) throw error
    throw new ServiceError('upstream', `The chunk ${path} is not there any more. Push the machine again.`)
  })
  const parts: Uint8Array[] = []
  let size = 0
  for await (const part of stream) {
    size += part.length
    if (size > most) throw broken(path, 'is larger than it can be')
    parts.push(part)
  }
  return Buffer.concat(parts)
}

/** Fetches a chunk and checks it. Throws `upstream` when it is missing or is not what its name says. */
export const fetchChunk = async (
  provider: Provider,
  { sha256, size }: Chunk,
  signal: AbortSignal,
): Promise<Buffer<ArrayBuffer>> => {
  const path = chunkPath(sha256)
  let data = await storedBytes(provider, path, size, signal)
  if (data.length < size)
    data = await decompress(data, { maxOutputLength: size }).catch((error: unknown) => {
      throw broken(path, `cannot be unpacked (${messageOf(error)})`)
    })
  if (data.length !== size || (await sha256Of(data)) !== sha256)
    throw broken(path, 'has other bytes than its name says')
  return data
}
