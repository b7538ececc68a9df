import { handlePieces, MiB } from '../http/pieces.ts'
import type { Source } from '../provider.ts'
import type { Piece } from './manifest.ts'

/** Pieces that are sent at once. */
const lanes = 3

/** Registries count layers: 4,200 of an image is the least that one of the large ones takes. */
const mostPieces = 4_000

interface Sending {
  /** Bytes of a piece, unless there would be too many. */
  readonly piece: number
  readonly signal: AbortSignal | undefined
  readonly onProgress: ((bytes: number) => void) | undefined
  /** Sends one piece, if it is not there yet. */
  write(piece: Piece, bytes: Uint8Array, signal: AbortSignal): Promise<void>
}

/** Sends a source in pieces, some at once, and gives them in their order with the digest of the whole. */
export const sendPieces = async (
  source: Source,
  { piece: usual, signal, onProgress, write }: Sending,
): Promise<{ readonly pieces: readonly Piece[]; readonly sha256: string }> => {
  const pieceSize = Math.max(usual, Math.ceil(source.size / mostPieces / MiB) * MiB)
  const options = { pieceSize, lanes, pieceDigest: 'sha256', digests: ['sha256'], signal } as const
  const pieces: Piece[] = []
  let done = 0
  const { sha256 } = await handlePieces(source, options, async ({ index, bytes, digest }, until) => {
    // An empty object has no pieces.
    if (bytes.length === 0) return
    const piece = { digest: `sha256:${digest.toString('hex')}`, size: bytes.length }
    pieces[index] = piece
    await write(piece, bytes, until)
    done += piece.size
    onProgress?.(done)
  })
  return { pieces, sha256 }
}
