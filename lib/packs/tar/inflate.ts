import { pipeline, Readable } from 'node:stream'
import type { Transform } from 'node:stream'
import { constants, createGunzip, createZstdDecompress } from 'node:zlib'
import { messageOf } from '#lib/errors.ts'
import { broken } from '../damaged.ts'

/** Bytes at once: each chunk is a way to another thread and back. */
const chunkSize = 1024 * 1024

const startsWith = (bytes: Uint8Array, magic: readonly number[]): boolean =>
  magic.every((byte, index) => bytes[index] === byte)

type Format = 'gzip' | 'zstd' | 'tar'

const formatOf = (head: Uint8Array): Format =>
  startsWith(head, [0x1f, 0x8b]) ? 'gzip' : startsWith(head, [0x28, 0xb5, 0x2f, 0xfd]) ? 'zstd' : 'tar'

interface Options {
  /** Is told the bytes of each part of the pack that comes. */
  readonly onPacked: (bytes: number) => void
  readonly signal: AbortSignal | undefined
}

interface OpenPack {
  readonly format: Format
  /**
   * The tar in it. Fails as the stream does, or with `invalid` for gzip or zstd that is damaged or cut; of zstd a cut
   * between two blocks does not show.
   */
  readonly bytes: AsyncIterator<Uint8Array>
  /** Cancels the stream when it is not at its end. */
  close(): Promise<void>
}

/** Opens a pack by what it begins with. The signal ends it also while nothing comes. */
export const openPack = async (
  stream: ReadableStream<Uint8Array>,
  { onPacked, signal }: Options,
): Promise<OpenPack> => {
  const reader = stream.getReader()
  let ended = false
  let failure: unknown
  const cancel = (): void => void reader.cancel().catch(() => undefined)
  signal?.addEventListener('abort', cancel)
  if (signal?.aborted === true) cancel()

  const next = async (): Promise<Uint8Array | undefined> => {
    try {
      const { value } = await reader.read()
      signal?.throwIfAborted()
      if (value === undefined) ended = true
      else onPacked(value.length)
      return value
    } catch (error) {
      failure = error
      throw error
    }
  }
  const release = (): void => {
    signal?.removeEventListener('abort', cancel)
    if (!ended) cancel()
  }

  const readHead = async (): Promise<Uint8Array> => {
    const head: Uint8Array[] = []
    for (let size = 0; size < 4; size += head.at(-1)?.length ?? 0) {
      const more = await next()
      if (more === undefined) break
      head.push(more)
    }
    return Buffer.concat(head)
  }
  const head = await readHead().catch((error: unknown) => {
    release()
    throw error
  })
  const packed = async function* (): AsyncGenerator<Uint8Array> {
    for (let chunk: Uint8Array | undefined = head; chunk !== undefined; chunk = await next()) yield chunk
  }
  const unpacked = async function* (inflater: Transform): AsyncGenerator<Uint8Array> {
    try {
      yield* pipeline(Readable.from(packed(), { highWaterMark: 1 }), inflater, () => undefined)
    } catch (error) {
      throw failure ?? broken(`it is damaged or cut off (${messageOf(error)})`)
    }
  }
  const format = formatOf(head)
  const bytes =
    format === 'gzip'
      ? unpacked(createGunzip({ chunkSize }))
      : format === 'zstd'
        ? unpacked(createZstdDecompress({ chunkSize, params: { [constants.ZSTD_d_windowLogMax]: 27 } }))
        : packed()
  return {
    format,
    bytes,
    async close() {
      await bytes.return(undefined)
      release()
    },
  }
}
