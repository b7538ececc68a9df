import type { Transform } from 'node:stream'
import { ReadableStream as WebStream } from 'node:stream/web'
import { constants as zlib, createGzip, createZstdCompress } from 'node:zlib'
import { isFault, ServiceError } from '#lib/errors.ts'
import { isSystemError } from '#lib/platform/files.ts'
import type { OpenFile } from '#lib/platform/open-file.ts'
import { byName } from '../pack-files.ts'
import type { PackFile } from '../pack-files.ts'
import { blockSize, headerOf, getPaddingSize } from './header.ts'

/** `level` of gzip is −1 to 9, of zstd 1 to 22; the caller keeps to these. */
export type Compression = { kind: 'none' } | { kind: 'gzip'; level: number } | { kind: 'zstd'; level: number }

interface PackOptions {
  readonly signal?: AbortSignal
  /** Is told how many bytes of files have gone by. */
  readonly onProgress?: (bytesOfFiles: number) => void
}

/** Bytes read at once: large, since each read is a way to another thread and back. */
const readSize = 1024 * 1024

/** So many parts, those given last, stay as they are while the next one is asked for. */
export const partsAhead = 2

const changed = (name: string, how: string): ServiceError =>
  new ServiceError('conflict', `${name} ${how} while it was packed. Stop what writes to it, and pack again.`)

const openUnchanged = async ({ name, open, size, modifiedAt }: PackFile): Promise<OpenFile> => {
  const file = await open().catch((error: unknown) => {
    const isOfSystem = isFault(error, 'invalid') && error.cause !== undefined
    const isGone = isOfSystem && ['ENOENT', 'ELOOP'].some(code => isSystemError(error.cause, code))
    // What is no regular file any more has no error of the system.
    if (isGone || (isFault(error, 'invalid') && !isOfSystem)) throw changed(name, 'was removed or replaced')
    throw error
  })
  if (file.size === size && file.modifiedAt.getTime() === modifiedAt.getTime()) return file
  await file[Symbol.asyncDispose]()
  throw changed(name, 'changed')
}

/**
 * The content of a file, of which the next part is read while `partsAhead` are used: they take turns in the same memory,
 * which other threads can look into.
 */
export async function* contentOf(packed: PackFile): AsyncGenerator<Uint8Array> {
  const { name, size } = packed
  await using opened = await openUnchanged(packed)
  const { handle: file } = opened
  const before = await file.stat({ bigint: true })
  // Not fewer for a small file: some file systems give less than is asked for, and so more parts.
  const turns = partsAhead + 2
  const buffers: Buffer[] = []
  let turn = 0
  const read = async (from: number): Promise<Buffer> => {
    const buffer = (buffers[turn] ??= Buffer.from(new SharedArrayBuffer(Math.min(readSize, size))))
    turn = (turn + 1) % turns
    const { bytesRead } = await file.read(buffer, 0, Math.min(buffer.length, size - from), from)
    return buffer.subarray(0, bytesRead)
  }
  let next = read(0)
  for (let done = 0; done < size;) {
    const chunk = await next
    if (chunk.length === 0) throw changed(name, 'became shorter')
    done += chunk.length
    if (done < size) {
      next = read(done)
      // Whoever stops here leaves it; whoever goes on still sees its failure.
      next.catch(() => undefined)
    }
    yield chunk
  }
  const after = await file.stat({ bigint: true })
  if (after.mtimeNs !== before.mtimeNs || after.size !== before.size) throw changed(name, 'changed')
}

async function* tarOf(files: readonly PackFile[], { signal, onProgress }: PackOptions): AsyncGenerator<Uint8Array> {
  let done = 0
  for (const file of files.toSorted(byName)) {
    signal?.throwIfAborted()
    yield headerOf(file)
    for await (const chunk of contentOf(file)) {
      signal?.throwIfAborted()
      yield chunk
      done += chunk.length
      onProgress?.(done)
    }
    if (getPaddingSize(file.size) > 0) yield Buffer.alloc(getPaddingSize(file.size))
  }
  yield Buffer.alloc(2 * blockSize)
}

const chunkSize = 256 * 1024

/** Feeds a compressor, which has used up each part before the next is asked for. */
const feed = async (bytes: AsyncIterable<Uint8Array>, compressor: Transform): Promise<void> => {
  const use = (part: Uint8Array): Promise<void> =>
    new Promise((used, reject) => {
      // One that is full when its reader leaves never says so of the part that it holds.
      const stop = (): void => reject(new Error('nobody reads what is compressed any more'))
      compressor.once('close', stop)
      compressor.write(part, error => {
        compressor.off('close', stop)
        if (error) reject(error)
        else used()
      })
    })
  try {
    for await (const part of bytes) await use(part)
    compressor.end()
  } catch (error) {
    // Its reader is told.
    compressor.destroy(error as Error)
  }
}

type Compressing = Exclude<Compression, { kind: 'none' }>

const compress = (bytes: AsyncIterable<Uint8Array>, compression: Compressing): AsyncIterable<Uint8Array> => {
  const { level } = compression
  const compressor =
    compression.kind === 'gzip'
      ? createGzip({ level, chunkSize })
      : createZstdCompress({
          chunkSize,
          params: { [zlib.ZSTD_c_compressionLevel]: level, [zlib.ZSTD_c_checksumFlag]: 1 },
        })
  void feed(bytes, compressor)
  return compressor
}

/**
 * The files as a canonical tar: sorted, of nobody, with their times in whole seconds and no more of their modes than
 * 755; PAX only for sizes from 8 GiB on and for long or non-ASCII names. The same files give the same bytes. Memory does
 * not grow with their size; the last `partsAhead` parts are good while the next is asked for. The stream fails with
 * `conflict`, which names the file, when one is not as `filesOf` saw it or changes while it is read.
 */
export const packBytes = (
  files: readonly PackFile[],
  compression: Compression,
  options: PackOptions = {},
): ReadableStream<Uint8Array> =>
  WebStream.from(
    compression.kind === 'none' ? tarOf(files, options) : compress(tarOf(files, options), compression),
  ) as ReadableStream<Uint8Array>
