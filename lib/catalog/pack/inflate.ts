import { pipeline, Readable } from 'node:stream'
import { constants, createGunzip, createZstdDecompress } from 'node:zlib'
import { messageOf } from '#lib/errors.ts'
import { broken } from './broken.ts'

/** Bytes at once: each chunk is a way to another thread and back. */
const chunkSize = 1024 * 1024

const startsWith = (bytes: Uint8Array, magic: readonly number[]): boolean =>
  magic.every((byte, index) => bytes[index] === byte)

const inflaterFor = (head: Uint8Array) => {
  if (startsWith(head, [0x1f, 0x8b])) return createGunzip({ chunkSize })
  if (startsWith(head, [0x28, 0xb5, 0x2f, 0xfd]))
    return createZstdDecompress({ chunkSize, params: { [constants.ZSTD_d_windowLogMax]: 27 } })
  return undefined
}

interface Options {
  /** Is told the bytes of each part of the pack that comes. */
  readonly onPacked: (bytes: number) => void
  readonly signal: AbortSignal | undefined
}

/**
 * The tar in a pack: unpacked when it begins like gzip or zstd, as it is otherwise. What goes wrong with `stream` is
 * thrown as it is; `invalid` for gzip or zstd that is damaged or cut. Cancels the stream when it is left before its end,
 * also when the signal comes while nothing else does.
 */
export async function* inflated(
  stream: ReadableStream<Uint8Array>,
  { onPacked, signal }: Options,
): AsyncGenerator<Uint8Array> {
  const reader = stream.getReader()
  let ended = false
  let failure: unknown

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
  const cancel = (): void => void reader.cancel().catch(() => undefined)
  signal?.addEventListener('abort', cancel)

  try {
    let head: Uint8Array = new Uint8Array()
    while (head.length < 4) {
      const more = await next()
      if (more === undefined) break
      head = head.length === 0 ? more : Buffer.concat([head, more])
    }
    if (head.length === 0) throw broken('it is empty')
    const packed = async function* (): AsyncGenerator<Uint8Array> {
      for (let chunk: Uint8Array | undefined = head; chunk !== undefined; chunk = await next()) yield chunk
    }
    const inflater = inflaterFor(head)
    if (!inflater) {
      yield* packed()
      return
    }
    try {
      yield* pipeline(Readable.from(packed(), { highWaterMark: 1 }), inflater, () => undefined)
    } catch (error) {
      throw failure ?? broken(`it is damaged or cut off (${messageOf(error)})`)
    }
  } finally {
    signal?.removeEventListener('abort', cancel)
    if (!ended) cancel()
  }
}
