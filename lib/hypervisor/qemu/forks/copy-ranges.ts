import type { FileHandle } from 'node:fs/promises'
import type { Range } from './page-ranges.ts'

/** Bytes of one copy. It stays in the cache of a processor. */
const pieceSize = 1 << 20
/** Copies that run at the same time. Node has so many threads for them. */
const concurrency = 4

const listPieces = (ranges: readonly Range[]): readonly Range[] =>
  ranges.flatMap(({ start, end }) =>
    Array.from({ length: Math.ceil((end - start) / pieceSize) }, (_, at) => ({
      start: start + at * pieceSize,
      end: Math.min(end, start + (at + 1) * pieceSize),
    })),
  )

const copyPiece = async (from: FileHandle, to: FileHandle, { start, end }: Range, buffer: Buffer): Promise<void> => {
  for (let at = start; at < end;) {
    const { bytesRead } = await from.read(buffer, 0, end - at, at)
    if (bytesRead === 0) throw new Error('the memory of the machine ends early')
    for (let done = 0; done < bytesRead;)
      done += (await to.write(buffer, done, bytesRead - done, at + done)).bytesWritten
    at += bytesRead
  }
}

/** Copies parts of a file to the same places in another one. What is no part keeps its content. */
export const copyRanges = async (from: FileHandle, to: FileHandle, ranges: readonly Range[]): Promise<void> => {
  const pieces = listPieces(ranges)[Symbol.iterator]()
  const copyAll = async (): Promise<void> => {
    const buffer = Buffer.allocUnsafe(pieceSize)
    for (const piece of pieces) await copyPiece(from, to, piece, buffer)
  }
  await Promise.all(Array.from({ length: concurrency }, copyAll))
}
