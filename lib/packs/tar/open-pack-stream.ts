import { pipeline, Readable } from 'node:stream'
import type { Transform } from 'node:stream'
import { constants, createGunzip, createZstdDecompress } from 'node:zlib'
import { messageOf } from '#lib/errors.ts'
import { InvalidPackError } from '../pack-errors.ts'

/** Bytes of decompressed data at a time. Each chunk costs a switch to another thread and back. */
const chunkSize = 1024 * 1024

const startsWith = (bytes: Uint8Array, magic: readonly number[]): boolean =>
  magic.every((byte, index) => bytes[index] === byte)

type PackFormat = 'gzip' | 'zstd' | 'tar'

const detectFormat = (head: Uint8Array): PackFormat =>
  startsWith(head, [0x1f, 0x8b]) ? 'gzip' : startsWith(head, [0x28, 0xb5, 0x2f, 0xfd]) ? 'zstd' : 'tar'

interface PackStreamOptions {
  /** Called with the number of bytes of each part of the pack that arrives. */
  readonly onPacked: (bytes: number) => void
  readonly signal: AbortSignal | undefined
}

interface PackStream {
  readonly format: PackFormat
  /**
   * The tar in the pack. Fails as the stream does, or with `invalid` for gzip or zstd that is damaged or cut off. It cannot
   * notice a cut between two blocks of zstd.
   */
  readonly bytes: AsyncIterator<Uint8Array>
  /** Cancels the stream if it is not at its end. */
  close(): Promise<void>
}

/** Opens a pack and detects its format by its first bytes. The signal also ends a stream that stands still. */
export const openPackStream = async (
  stream: ReadableStream<Uint8Array>,
  { onPacked, signal }: PackStreamOptions,
): Promise<PackStream> => {
  const reader = stream.getReader()
  let isAtEnd = false
  let failure: unknown
  const cancel = (): void => void reader.cancel().catch(() => undefined)
  signal?.addEventListener('abort', cancel)
  if (signal?.aborted === true) cancel()

  const readPart = async (): Promise<Uint8Array | undefined> => {
    try {
      const { value } = await reader.read()
      signal?.throwIfAborted()
      if (value === undefined) isAtEnd = true
      else onPacked(value.length)
      return value
    } catch (error) {
      failure = error
      throw error
    }
  }
  const release = (): void => {
    signal?.removeEventListener('abort', cancel)
    if (!isAtEnd) cancel()
  }

  const readHead = async (): Promise<Uint8Array> => {
    const parts: Uint8Array[] = []
    for (let size = 0; size < 4; size += parts.at(-1)?.length ?? 0) {
      const part = await readPart()
      if (part === undefined) break
      parts.push(part)
    }
    return Buffer.concat(parts)
  }
  const head = await readHead().catch((error: unknown) => {
    release()
    throw error
  })
  const readPacked = async function* (): AsyncGenerator<Uint8Array> {
    for (let part: Uint8Array | undefined = head; part !== undefined; part = await readPart()) yield part
  }
  const decompress = async function* (decompressor: Transform): AsyncGenerator<Uint8Array> {
    try {
      yield* pipeline(Readable.from(readPacked(), { highWaterMark: 1 }), decompressor, () => undefined)
    } catch (error) {
      throw failure ?? new InvalidPackError(`it is damaged or cut off (${messageOf(error)})`)
    }
  }
  const format = detectFormat(head)
  const bytes =
    format === 'gzip'
      ? decompress(createGunzip({ chunkSize }))
      : format === 'zstd'
        ? decompress(createZstdDecompress({ chunkSize, params: { [constants.ZSTD_d_windowLogMax]: 27 } }))
        : readPacked()
  return {
    format,
    bytes,
    async close() {
      await bytes.return(undefined)
      release()
    },
  }
}
