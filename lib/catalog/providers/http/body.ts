import { createHash } from 'node:crypto'
import type { Readable } from 'node:stream'
import { ServiceError } from '#lib/errors.ts'
import { failureOf } from './failures.ts'
import { Passing } from './retry.ts'

/** Of replies that are read as a whole: lists have a thousand rows of 1 KB names. */
const usual = 16 * 1024 * 1024

const brokenOff = (host: string, error: unknown): ServiceError =>
  failureOf(host, error, `What the storage ${host} sent broke off`)

/** The whole of a reply that is text. Throws `upstream`, also for more than `longest` bytes. */
export const textOf = async (host: string, body: Readable, longest = usual): Promise<string> => {
  const chunks: Buffer[] = []
  let size = 0
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      size += chunk.length
      if (size > longest)
        throw new ServiceError('upstream', `The storage ${host} sent more than ${longest} bytes of text.`)
      chunks.push(chunk)
    }
  } catch (error) {
    throw brokenOff(host, error)
  }
  return Buffer.concat(chunks).toString('utf8')
}

interface Expected {
  readonly host: string
  /** Stands for them in messages: the path of an object, or words. */
  readonly what: string
  /** Bytes, where that is known. */
  readonly size: number | undefined
  readonly sha256?: string | undefined
  readonly signal?: AbortSignal | undefined
}

/** The bytes of a reply, which fail where they are fewer, more or others than was said. */
export async function* checked(
  body: Readable,
  { host, what, size = NaN, sha256, signal }: Expected,
): AsyncGenerator<Buffer> {
  const digest = sha256 === undefined ? undefined : createHash('sha256')
  let seen = 0
  const unlike = (words: string): Error =>
    new Passing(`The storage ${host} sent ${seen} bytes of ${what}, ${words} than the ${size} there are.`, undefined)
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      seen += chunk.length
      if (seen > size) throw unlike('more')
      digest?.update(chunk)
      yield chunk
    }
  } catch (error) {
    throw signal?.aborted ? signal.reason : brokenOff(host, error)
  } finally {
    body.destroy()
  }
  if (seen < size) throw unlike('fewer')
  if (digest && digest.digest('hex') !== sha256)
    throw new ServiceError('upstream', `The bytes of ${what} are not those that were written: their SHA-256 differs.`)
}

/** Bytes as a stream. `end` ends what they come from, as soon as nobody wants more. */
export const streamOf = (
  chunks: AsyncGenerator<Uint8Array>,
  end: () => unknown = () => chunks.return(undefined),
): ReadableStream<Uint8Array> =>
  new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { value, done } = await chunks.next()
      if (done) controller.close()
      else controller.enqueue(value)
    },
    cancel: () => void end(),
  })

/** What `checked` gives, as a stream. */
export const checkedStream = (body: Readable, expected: Expected): ReadableStream<Uint8Array> =>
  streamOf(checked(body, expected), () => body.destroy())
