import { createHash } from 'node:crypto'
import { ServiceError } from '#lib/errors.ts'
import type { ByteRange, Source } from '../provider.ts'
import { digestOf, type Piece } from './manifest.ts'

/** Pieces that are sent at once; one more is read meanwhile. */
const lanes = 3

/** Registries count layers: 4,200 of an image is the least that one of the large ones takes. */
const mostPieces = 4_000

const mebibyte = 1024 * 1024

interface Sending {
  /** Bytes of a piece, unless there would be too many. */
  readonly piece: number
  readonly signal: AbortSignal | undefined
  readonly onProgress: ((bytes: number) => void) | undefined
  /** Sends one piece, if it is not there yet. */
  write(piece: Piece, bytes: Uint8Array, signal: AbortSignal): Promise<void>
}

const readAll = async (source: Source, range: ByteRange, signal: AbortSignal): Promise<Buffer> => {
  const size = range.end - range.start
  const bytes = Buffer.allocUnsafeSlow(size)
  let filled = 0
  for await (const chunk of source.read(range)) {
    signal.throwIfAborted()
    if (filled + chunk.byteLength <= size) bytes.set(chunk, filled)
    filled += chunk.byteLength
  }
  if (filled !== size) throw new ServiceError('upstream', `Of ${size} bytes of the source ${filled} came.`)
  return bytes
}

/**
 * Sends a source in pieces, some at once, and gives them in their order with the digest of the whole. It is read once,
 * from its beginning to its end; what is in memory does not grow with it. The first failure ends all that are under way.
 */
export const sendPieces = async (
  source: Source,
  { piece, signal, onProgress, write }: Sending,
): Promise<{ readonly pieces: readonly Piece[]; readonly sha256: string }> => {
  const { size } = source
  const step = Math.max(piece, Math.ceil(size / mostPieces / mebibyte) * mebibyte)
  const failed = new AbortController()
  const either = signal ? AbortSignal.any([signal, failed.signal]) : failed.signal
  const whole = createHash('sha256')
  const pieces: Piece[] = []
  const sending = new Set<Promise<void>>()
  let done = 0

  const send = (part: Piece, bytes: Uint8Array): void => {
    const sent = write(part, bytes, either)
      .then(() => onProgress?.((done += part.size)))
      .catch((error: unknown) => failed.abort(error))
      .finally(() => void sending.delete(sent))
    sending.add(sent)
  }
  try {
    for (let start = 0; start < size; start += step) {
      const bytes = await readAll(source, { start, end: Math.min(start + step, size) }, either)
      whole.update(bytes)
      const part = { digest: digestOf(bytes), size: bytes.length }
      pieces.push(part)
      send(part, bytes)
      if (sending.size === lanes) await Promise.race(sending)
      either.throwIfAborted()
    }
  } catch (error) {
    failed.abort(error)
  }
  await Promise.all(sending)
  either.throwIfAborted()
  return { pieces, sha256: whole.digest('hex') }
}
