import { createHash } from 'node:crypto'
import { forEachConcurrent } from '#lib/async/for-each-concurrent.ts'
import { ServiceError } from '#lib/errors.ts'
import type { Source } from '../port/provider.ts'

export const MiB = 1024 * 1024

/** Objects up to this size are sent in one request, larger ones in parts of at least this size. */
export const minPartSize = 8 * MiB

export interface Part {
  /** From 0. */
  readonly index: number
  /** The buffer is reused after the promise of the handler settles. */
  readonly bytes: Buffer
  /** By `partAlgorithm`. */
  readonly digest: Buffer
}

type Algorithm = 'sha256' | 'md5'

interface Options<A extends Algorithm> {
  /** Bytes of each part but the last. */
  readonly partSize: number
  /** Parts that are handled at the same time; each has its own buffer. */
  readonly concurrency: number
  /** Digest of each part. */
  readonly partAlgorithm: Algorithm
  /** Digests of the whole source. */
  readonly algorithms: readonly A[]
  readonly signal?: AbortSignal | undefined
}

/** Reads a source from its beginning and yields its parts. `takeBuffer` gives the buffer of a part. */
async function* splitIntoParts(
  source: Source,
  { partSize, partAlgorithm }: Pick<Options<Algorithm>, 'partSize' | 'partAlgorithm'>,
  takeBuffer: () => Buffer,
  onBytes: (bytes: Uint8Array) => void,
): AsyncGenerator<Part> {
  let [index, buffer, filled, received] = [0, takeBuffer(), 0, 0]
  let digest = createHash(partAlgorithm)
  for await (const chunk of source.read({ start: 0, end: source.size })) {
    received += chunk.byteLength
    if (received > source.size) break
    onBytes(chunk)
    for (let offset = 0; offset < chunk.byteLength;) {
      if (filled === partSize) {
        yield { index, bytes: buffer, digest: digest.digest() }
        ;[index, buffer, filled] = [index + 1, takeBuffer(), 0]
        digest = createHash(partAlgorithm)
      }
      const part = chunk.subarray(offset, offset + partSize - filled)
      buffer.set(part, filled)
      digest.update(part)
      offset += part.byteLength
      filled += part.byteLength
    }
  }
  if (received !== source.size)
    throw new ServiceError(
      'upstream',
      `Of ${source.size} bytes ${received > source.size ? 'more' : received} came; send it again.`,
    )
  yield { index, bytes: buffer.subarray(0, filled), digest: digest.digest() }
}

/**
 * Reads a source once, in order, and calls `onPart` for each part, a few at the same time. Gives the digests of the whole in
 * hex. When one handler fails, the signal of the others is aborted; when the source fails, running handlers are awaited.
 * Throws the first error.
 */
export const forEachPart = async <A extends Algorithm>(
  source: Source,
  options: Options<A>,
  onPart: (part: Part, signal: AbortSignal) => Promise<void>,
): Promise<Record<A, string>> => {
  const { partSize, concurrency, algorithms, signal } = options
  const wholeDigests = algorithms.map(algorithm => [algorithm, createHash(algorithm)] as const)
  const failure = new AbortController()
  const abortSignal = signal ? AbortSignal.any([signal, failure.signal]) : failure.signal
  const freeBuffers: Buffer[] = []
  const takeBuffer = (): Buffer => freeBuffers.pop() ?? Buffer.allocUnsafeSlow(Math.min(partSize, source.size))
  const parts = splitIntoParts(source, options, takeBuffer, bytes => {
    abortSignal.throwIfAborted()
    for (const [, digest] of wholeDigests) digest.update(bytes)
  })
  await forEachConcurrent(parts, concurrency, async part => {
    try {
      await onPart(part, abortSignal)
    } catch (error) {
      failure.abort(error)
    } finally {
      if (part.bytes.length === partSize) freeBuffers.push(part.bytes)
    }
  })
  abortSignal.throwIfAborted()
  // `Object.fromEntries` forgets the names of the members.
  return Object.fromEntries(wholeDigests.map(([algorithm, digest]) => [algorithm, digest.digest('hex')])) as Record<
    A,
    string
  >
}
