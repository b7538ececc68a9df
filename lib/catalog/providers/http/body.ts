import { createHash } from 'node:crypto'
import type { Readable } from 'node:stream'
import { ServiceError } from '#lib/errors.ts'
import { failureOf } from './failures.ts'
import { Passing } from './retry.ts'

/** Of replies that are read as a whole: lists have a thousand rows of 1 KB names. */
const most = 16 * 1024 * 1024

/** The whole of a reply that is text. Throws `upstream`. */
export const textOf = async (host: string, body: Readable): Promise<string> => {
  const chunks: Buffer[] = []
  let size = 0
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      size += chunk.length
      if (size > most) throw new ServiceError('upstream', `The storage ${host} sent more than ${most} bytes of text.`)
      chunks.push(chunk)
    }
  } catch (error) {
    throw failureOf(host, error)
  }
  return Buffer.concat(chunks).toString('utf8')
}

interface Expected {
  readonly host: string
  readonly path: string
  /** Bytes. */
  readonly size: number
  readonly sha256?: string | undefined
  readonly signal?: AbortSignal | undefined
}

/** The bytes of a reply, which fail where they are fewer, more or others than was said. */
export const checkedStream = (
  body: Readable,
  { host, path, size, sha256, signal }: Expected,
): ReadableStream<Uint8Array> => {
  const chunks = (body as AsyncIterable<Buffer>)[Symbol.asyncIterator]()
  const digest = sha256 === undefined ? undefined : createHash('sha256')
  let seen = 0
  const next = async (): Promise<Buffer | undefined> => {
    const { value, done } = await chunks.next().catch((error: unknown) => {
      throw signal?.aborted ? signal.reason : failureOf(host, error)
    })
    if (done) {
      if (seen !== size) throw new Passing(`Of ${size} bytes of ${path} the storage ${host} sent ${seen}.`, undefined)
      if (digest && digest.digest('hex') !== sha256)
        throw new ServiceError(
          'upstream',
          `The bytes of ${path} are not those that were written: their SHA-256 differs.`,
        )
      return undefined
    }
    seen += value.length
    digest?.update(value)
    return value
  }
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const chunk = await next()
        if (chunk) controller.enqueue(chunk)
        else controller.close()
      } catch (error) {
        body.destroy()
        throw error
      }
    },
    cancel: () => void body.destroy(),
  })
}
