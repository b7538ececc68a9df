import { createHash } from 'node:crypto'

/** All digests in lower-case hex. */
export interface PackDigest {
  /** Bytes. */
  readonly size: number
  readonly sha256: string
  readonly md5: string
  /** Bytes of each piece but the last. */
  readonly pieceSize: number
  /** The SHA-256 of each piece. */
  readonly pieces: readonly string[]
}

/** Digests what goes by, at once. */
interface Digest<T> {
  update(part: Uint8Array): void
  end(): T
}

const createMd5 = (): Digest<Pick<PackDigest, 'md5'>> => {
  const md5 = createHash('md5')
  return {
    update: part => void md5.update(part),
    end: () => ({ md5: md5.digest('hex') }),
  }
}

const createPieces = (pieceSize: number): Digest<Omit<PackDigest, 'md5'>> => {
  const sha256 = createHash('sha256')
  const pieces: string[] = []
  let piece = createHash('sha256')
  let left = pieceSize
  let size = 0

  const endPiece = (): void => {
    pieces.push(piece.digest('hex'))
    piece = createHash('sha256')
    left = pieceSize
  }

  return {
    update(part) {
      sha256.update(part)
      size += part.length
      for (let at = 0; at < part.length;) {
        const rest = part.subarray(at, at + left)
        piece.update(rest)
        at += rest.length
        left -= rest.length
        if (left === 0) endPiece()
      }
    },
    end() {
      if (left < pieceSize) endPiece()
      return { size, sha256: sha256.digest('hex'), pieceSize, pieces }
    },
  }
}

/** The halves of a digest that take about as long, 1.1 and 1.3 ms for each MiB: SHA-256 of whole and pieces, and MD5. */
export const halves = { pieces: createPieces, md5: createMd5 } as const
export type Half = keyof typeof halves

/** Digests a whole and its pieces while they go by. */
export const createDigest = (pieceSize: number): Digest<PackDigest> => {
  const [pieces, md5] = [createPieces(pieceSize), createMd5()]
  return {
    update(part) {
      pieces.update(part)
      md5.update(part)
    },
    end: () => ({ ...pieces.end(), ...md5.end() }),
  }
}
