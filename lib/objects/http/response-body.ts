import { createHash } from 'node:crypto'
import type { Readable } from 'node:stream'
import { ServiceError } from '#lib/errors.ts'
import { createTransportError } from './http-errors.ts'
import { TransientError } from '#lib/async/retry.ts'

/** Bytes of a reply that is read as a whole: lists have a thousand rows with names of 1 KB. */
const defaultTextLimit = 16 * 1024 * 1024

const createBrokenBodyError = (host: string, error: unknown): ServiceError =>
  createTransportError(host, error, `The reply of the storage ${host} broke off`)

/** Reads a whole body as text. Throws `upstream`, also for more than `limit` bytes. */
export const readText = async (host: string, body: Readable, limit = defaultTextLimit): Promise<string> => {
  const chunks: Buffer[] = []
  let size = 0
  try {
    // A stream of Node without an encoding gives buffers.
    for await (const chunk of body as AsyncIterable<Buffer>) {
      size += chunk.length
      if (size > limit) throw new ServiceError('upstream', `The storage ${host} sent more than ${limit} bytes of text.`)
      chunks.push(chunk)
    }
  } catch (error) {
    throw createBrokenBodyError(host, error)
  }
  return Buffer.concat(chunks).toString('utf8')
}

interface Expected {
  readonly host: string
  /** Names the bytes in messages: the path of an object, or words. */
  readonly what: string
  /** Bytes, when known. */
  readonly size: number | undefined
  readonly sha256?: string | undefined
  readonly signal?: AbortSignal | undefined
}

/** Yields the bytes of a reply. Throws `upstream` when the size or the SHA-256 is not the expected one. */
export async function* readVerified(
  body: Readable,
  { host, what, size = NaN, sha256, signal }: Expected,
): AsyncGenerator<Buffer> {
  const digest = sha256 === undefined ? undefined : createHash('sha256')
  let received = 0
  const createWrongSizeError = (words: string): Error =>
    new TransientError(
      `The storage ${host} sent ${received} bytes of ${what}, ${words} than the ${size} there are.`,
      undefined,
    )
  try {
    // As above.
    for await (const chunk of body as AsyncIterable<Buffer>) {
      received += chunk.length
      if (received > size) throw createWrongSizeError('more')
      digest?.update(chunk)
      yield chunk
    }
  } catch (error) {
    throw signal?.aborted ? signal.reason : createBrokenBodyError(host, error)
  } finally {
    body.destroy()
  }
  if (received < size) throw createWrongSizeError('fewer')
  if (digest && digest.digest('hex') !== sha256)
    throw new ServiceError('upstream', `The bytes of ${what} are not those that were written: the SHA-256 differs.`)
}

/** Makes a stream of a generator. `onCancel` is called when the reader cancels the stream. */
export const toStream = (
  chunks: AsyncGenerator<Uint8Array>,
  onCancel: () => unknown = () => chunks.return(undefined),
): ReadableStream<Uint8Array> =>
  new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { value, done } = await chunks.next()
      if (done) controller.close()
      else controller.enqueue(value)
    },
    cancel: () => void onCancel(),
  })

/** Gives a stream of what `readVerified` yields. */
export const createVerifiedStream = (body: Readable, expected: Expected): ReadableStream<Uint8Array> =>
  toStream(readVerified(body, expected), () => body.destroy())
