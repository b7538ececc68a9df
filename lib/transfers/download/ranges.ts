import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { ServiceError } from '#lib/errors.ts'
import { writeAll } from '#lib/platform/files.ts'
import { sha256Of } from '#lib/packs/chunk-store/stored-chunk.ts'
import { isOutage, withRetry } from '#lib/async/retry.ts'
import type { PackSource } from './pack-source.ts'

/** Pieces that are fetched at once. */
const lanes = 4
/** Bytes of a piece where nobody has said how a pack is cut. */
const usualSize = 8 * 1024 * 1024
/** Bytes of a piece that is fetched as one: what a kill costs in each lane, and what a lane holds in memory. */
const largestPiece = 16 * 1024 * 1024

/** A pack that is being fetched into a file, piece by piece and beginning with the first. */
export interface Pieces {
  readonly size: number
  /** Settles when the byte at this place is in the file; fails as the fetching does. Gives up to where it is whole. */
  reached(place: number): Promise<number>
  /** Up to `most` bytes of the file from a place on, which must have been reached. */
  read(place: number, most: number): Promise<Buffer>
  /** Settles when nothing is fetched any more. Gives whether an outage has cut it off, so that a later try may go on. */
  close(): Promise<boolean>
}

const readAll = async (stream: ReadableStream<Uint8Array>, size: number): Promise<Buffer<ArrayBuffer>> => {
  const buffer = Buffer.allocUnsafeSlow(size)
  let at = 0
  for await (const chunk of stream) {
    if (at + chunk.byteLength > size)
      throw new ServiceError('upstream', 'The provider sent more of the pack than was asked for.')
    buffer.set(chunk, at)
    at += chunk.byteLength
  }
  if (at < size) throw new ServiceError('upstream', `The provider sent ${at} bytes of a piece of ${size}.`)
  return buffer
}

/**
 * Fetches a pack into a folder; pieces that an earlier try has left there are taken as they are, when they are right.
 * @param onProgress is told how many bytes are there
 */
export const openPieces = async (
  source: PackSource,
  folder: string,
  { signal, onProgress }: { signal: AbortSignal; onProgress: (bytes: number) => void },
): Promise<Pieces> => {
  const { size } = source
  // Larger pieces than that cannot be verified one by one; the whole is in any case.
  const side = source.side && source.side.piece_size <= largestPiece ? source.side : undefined
  const pieceSize = side?.piece_size ?? usualSize
  const count = Math.ceil(size / pieceSize)
  const journal = join(folder, 'pieces')
  const pack = join(folder, 'pack')
  await using opened = new AsyncDisposableStack()
  const file = opened.use(await open(pack, existsSync(pack) ? 'r+' : 'w+', 0o600))
  const rangeOf = (piece: number) => ({ start: piece * pieceSize, end: Math.min((piece + 1) * pieceSize, size) })
  const isRight = async (piece: number, bytes: Buffer<ArrayBuffer>): Promise<boolean> =>
    !side || (await sha256Of(bytes)) === side.pieces[piece]

  const there = new Set<number>()
  let bytesThere = 0
  const add = (piece: number): void => {
    const { start, end } = rangeOf(piece)
    there.add(piece)
    bytesThere += end - start
    onProgress(bytesThere)
  }
  const readAt = async (place: number, most: number): Promise<Buffer<ArrayBuffer>> => {
    const buffer = Buffer.allocUnsafeSlow(most)
    const { bytesRead } = await file.read(buffer, 0, most, place)
    return buffer.subarray(0, bytesRead)
  }
  const takeEarlier = async (): Promise<void> => {
    if (!existsSync(journal)) return
    const noted = new Set(readFileSync(journal, 'utf8').split('\n').slice(0, -1).map(Number))
    for (const piece of [...noted].filter(one => Number.isInteger(one) && one >= 0 && one < count)) {
      const { start, end } = rangeOf(piece)
      const bytes = await readAt(start, end - start)
      if (bytes.length === end - start && (await isRight(piece, bytes))) add(piece)
    }
  }

  let whole = 0
  let failure: unknown
  let waiting: PromiseWithResolvers<void> = Promise.withResolvers()
  const moved = (): void => {
    while (whole < count && there.has(whole)) whole += 1
    waiting.resolve()
    waiting = Promise.withResolvers()
  }

  const ended = new AbortController()
  const until = AbortSignal.any([signal, ended.signal])
  const fetchPiece = (piece: number): Promise<void> =>
    withRetry(
      async () => {
        const range = rangeOf(piece)
        const bytes = await readAll(await source.read(range, until), range.end - range.start)
        if (!(await isRight(piece, bytes)))
          throw new ServiceError('upstream', `Piece ${piece} of the pack is not what its SHA-256 says.`)
        await writeAll(file, bytes, range.start)
        // After its bytes: what is noted is there, also after a kill.
        appendFileSync(journal, `${piece}\n`)
      },
      until,
      isOutage,
    )
  await takeEarlier()
  moved()
  let next = 0
  const lane = async (): Promise<void> => {
    for (;;) {
      while (next < count && there.has(next)) next += 1
      if (next >= count) return
      const piece = next
      next += 1
      await fetchPiece(piece)
      add(piece)
      moved()
    }
  }
  const fail = (error: unknown): void => {
    failure ??= signal.aborted ? signal.reason : error
    ended.abort(error)
    moved()
  }
  const owned = opened.move()
  const fetching = Promise.all(Array.from({ length: lanes }, () => lane().catch(fail)))

  return {
    size,
    async reached(place) {
      for (;;) {
        const end = Math.min(whole * pieceSize, size)
        if (place < end || end === size) return end
        if (failure) throw failure
        await waiting.promise
      }
    },
    read: readAt,
    async close() {
      ended.abort(new Error('nobody waits for the pack any more'))
      await fetching
      await owned.disposeAsync()
      return isOutage(failure)
    },
  }
}
