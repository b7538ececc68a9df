import { createHash } from 'node:crypto'
import { ServiceError } from '#lib/errors.ts'
import type { Source } from '../provider.ts'

export const MiB = 1024 * 1024

/** Objects up to this size go in one request, larger ones in pieces that are not smaller. */
export const smallestPiece = 8 * MiB

export interface Piece {
  /** From 0. */
  readonly index: number
  /** Whose they are is over when the promise of its handler settles. */
  readonly bytes: Buffer
  readonly digest: Buffer
}

type Algorithm = 'sha256' | 'md5'

interface Options<A extends Algorithm> {
  /** Bytes of each piece but the last. */
  readonly pieceSize: number
  /** Pieces that are handled at a time; each has its buffer. */
  readonly lanes: number
  /** What is worked out of each piece. */
  readonly pieceDigest: Algorithm
  /** What is worked out of the whole. */
  readonly digests: readonly A[]
  readonly signal?: AbortSignal | undefined
}

/** Reads a source from its beginning and gives it in pieces. `take` gives a buffer for one. */
async function* cut(
  source: Source,
  { pieceSize, pieceDigest }: Pick<Options<Algorithm>, 'pieceSize' | 'pieceDigest'>,
  take: () => Buffer,
  onBytes: (bytes: Uint8Array) => void,
): AsyncGenerator<Piece> {
  let [index, buffer, filled, came] = [0, take(), 0, 0]
  let digest = createHash(pieceDigest)
  for await (const chunk of source.read({ start: 0, end: source.size })) {
    came += chunk.byteLength
    if (came > source.size) break
    onBytes(chunk)
    for (let at = 0; at < chunk.byteLength;) {
      if (filled === pieceSize) {
        yield { index, bytes: buffer, digest: digest.digest() }
        ;[index, buffer, filled] = [index + 1, take(), 0]
        digest = createHash(pieceDigest)
      }
      const part = chunk.subarray(at, at + pieceSize - filled)
      buffer.set(part, filled)
      digest.update(part)
      at += part.byteLength
      filled += part.byteLength
    }
  }
  if (came !== source.size)
    throw new ServiceError(
      'upstream',
      `Of ${source.size} bytes ${came > source.size ? 'more' : came} came; send it again.`,
    )
  yield { index, bytes: buffer.subarray(0, filled), digest: digest.digest() }
}

/**
 * Reads a source once, in order, and has its pieces handled a few at a time; gives the digests of the whole in hex. When
 * one handler fails, the signal of the others is aborted; when the source fails, they are waited for. Throws what failed.
 */
export const handlePieces = async <A extends Algorithm>(
  source: Source,
  options: Options<A>,
  handle: (piece: Piece, signal: AbortSignal) => Promise<void>,
): Promise<Record<A, string>> => {
  const { pieceSize, lanes, digests, signal } = options
  const whole = digests.map(algorithm => [algorithm, createHash(algorithm)] as const)
  const failed = new AbortController()
  const until = signal ? AbortSignal.any([signal, failed.signal]) : failed.signal
  const free: Buffer[] = []
  const take = (): Buffer => free.pop() ?? Buffer.allocUnsafeSlow(Math.min(pieceSize, source.size))
  const running = new Set<Promise<void>>()
  const pieces = cut(source, options, take, bytes => {
    until.throwIfAborted()
    for (const [, digest] of whole) digest.update(bytes)
  })
  try {
    for await (const piece of pieces) {
      const task = handle(piece, until)
        .catch((error: unknown) => failed.abort(error))
        .finally(() => {
          running.delete(task)
          if (piece.bytes.length === pieceSize) free.push(piece.bytes)
        })
      running.add(task)
      if (running.size === lanes) await Promise.race(running)
    }
  } finally {
    await Promise.all(running)
  }
  until.throwIfAborted()
  return Object.fromEntries(whole.map(([algorithm, digest]) => [algorithm, digest.digest('hex')])) as Record<A, string>
}
