import type { Transform } from 'node:stream'
import { ReadableStream as WebStream } from 'node:stream/web'
import { constants as zlib, createGzip, createZstdCompress } from 'node:zlib'
import { isFault, ServiceError } from '#lib/errors.ts'
import { isSystemError } from '#lib/platform/files.ts'
import type { OpenFile } from '#lib/platform/open-file.ts'
import { compareByName } from '../pack-files.ts'
import type { PackFile } from '../pack-files.ts'
import { blockSize, encodeFileHeader, getPaddingSize } from './header.ts'

/** How to compress a pack. The caller keeps `level` in −1 to 9 for gzip and in 1 to 22 for zstd. */
export type Compression = { kind: 'none' } | { kind: 'gzip'; level: number } | { kind: 'zstd'; level: number }

interface PackTarOptions {
  readonly signal?: AbortSignal
  /** Called with the number of bytes of files so far. */
  readonly onProgress?: (bytesOfFiles: number) => void
}

/** Bytes of one read. It is large, because each read costs a switch to another thread and back. */
const readSize = 1024 * 1024

/** The number of parts, the last ones that a stream gave, that stay unchanged while the caller asks for the next one. */
export const retainedParts = 2

const createChangedFileError = (name: string, how: string): ServiceError =>
  new ServiceError('conflict', `${name} ${how} while it was packed. Stop what writes to it, and pack again.`)

const openUnchanged = async ({ name, open, size, modifiedAt }: PackFile): Promise<OpenFile> => {
  const file = await open().catch((error: unknown) => {
    const isFromSystem = isFault(error, 'invalid') && error.cause !== undefined
    const isGone = isFromSystem && ['ENOENT', 'ELOOP'].some(code => isSystemError(error.cause, code))
    // The error for a path that is no longer a regular file has no cause of the system.
    if (isGone || (isFault(error, 'invalid') && !isFromSystem))
      throw createChangedFileError(name, 'was removed or replaced')
    throw error
  })
  if (file.size === size && file.modifiedAt.getTime() === modifiedAt.getTime()) return file
  await file[Symbol.asyncDispose]()
  throw createChangedFileError(name, 'changed')
}

/**
 * Reads a file part by part, and reads ahead while the caller uses the last `retainedParts` parts. The parts take turns in
 * the same buffers, which other threads can see. Throws `conflict` when the file is not the one that was listed, or changes
 * meanwhile.
 */
export async function* readContent(packFile: PackFile): AsyncGenerator<Uint8Array> {
  const { name, size } = packFile
  await using opened = await openUnchanged(packFile)
  const { handle } = opened
  const before = await handle.stat({ bigint: true })
  // A small file needs as many buffers, because some file systems give less than is asked for, and so more parts.
  const bufferCount = retainedParts + 2
  const buffers: Buffer[] = []
  let bufferIndex = 0
  const read = async (from: number): Promise<Buffer> => {
    const buffer = (buffers[bufferIndex] ??= Buffer.from(new SharedArrayBuffer(Math.min(readSize, size))))
    bufferIndex = (bufferIndex + 1) % bufferCount
    const { bytesRead } = await handle.read(buffer, 0, Math.min(buffer.length, size - from), from)
    return buffer.subarray(0, bytesRead)
  }
  let next = read(0)
  for (let done = 0; done < size;) {
    const part = await next
    if (part.length === 0) throw createChangedFileError(name, 'became shorter')
    done += part.length
    if (done < size) {
      next = read(done)
      // A caller that stops here never awaits this read. A caller that goes on still gets its failure.
      next.catch(() => undefined)
    }
    yield part
  }
  const after = await handle.stat({ bigint: true })
  if (after.mtimeNs !== before.mtimeNs || after.size !== before.size) throw createChangedFileError(name, 'changed')
}

async function* writeTar(
  files: readonly PackFile[],
  { signal, onProgress }: PackTarOptions,
): AsyncGenerator<Uint8Array> {
  let done = 0
  for (const file of files.toSorted(compareByName)) {
    signal?.throwIfAborted()
    yield encodeFileHeader(file)
    for await (const part of readContent(file)) {
      signal?.throwIfAborted()
      yield part
      done += part.length
      onProgress?.(done)
    }
    if (getPaddingSize(file.size) > 0) yield Buffer.alloc(getPaddingSize(file.size))
  }
  yield Buffer.alloc(2 * blockSize)
}

const chunkSize = 256 * 1024

/** Feeds a compressor. Asks for the next part only when the compressor has used up the current one. */
const feedCompressor = async (parts: AsyncIterable<Uint8Array>, compressor: Transform): Promise<void> => {
  const write = (part: Uint8Array): Promise<void> =>
    new Promise((resolve, reject) => {
      // A compressor with full buffers whose reader leaves never calls back for the part that it holds.
      const onClose = (): void => reject(new Error('nobody reads the compressed data any more'))
      compressor.once('close', onClose)
      compressor.write(part, error => {
        compressor.off('close', onClose)
        if (error) reject(error)
        else resolve()
      })
    })
  try {
    for await (const part of parts) await write(part)
    compressor.end()
  } catch (error) {
    // The reader of the compressor gets the error.
    compressor.destroy(error as Error)
  }
}

type EnabledCompression = Exclude<Compression, { kind: 'none' }>

const compress = (parts: AsyncIterable<Uint8Array>, compression: EnabledCompression): AsyncIterable<Uint8Array> => {
  const { level } = compression
  const compressor =
    compression.kind === 'gzip'
      ? createGzip({ level, chunkSize })
      : createZstdCompress({
          chunkSize,
          params: { [zlib.ZSTD_c_compressionLevel]: level, [zlib.ZSTD_c_checksumFlag]: 1 },
        })
  void feedCompressor(parts, compressor)
  return compressor
}

/**
 * Packs files into a canonical tar, so that the same files give the same bytes: sorted, without owners, times in whole
 * seconds, modes as far as 755 allows, PAX only for sizes from 8 GiB on and for names that are long or not ASCII. Memory
 * does not grow with the files. The last `retainedParts` parts stay valid while the caller asks for the next one. The stream
 * fails with `conflict` and the name of the file when a file is not as it was listed, or changes while it is read.
 */
export const packTar = (
  files: readonly PackFile[],
  compression: Compression,
  options: PackTarOptions = {},
): ReadableStream<Uint8Array> =>
  // Node and the DOM have one stream and two types of it.
  WebStream.from(
    compression.kind === 'none' ? writeTar(files, options) : compress(writeTar(files, options), compression),
  ) as ReadableStream<Uint8Array>
