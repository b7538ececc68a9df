import { readSerialOutput } from '#lib/hypervisor/files/serial-output.ts'

/** A piece of a console as text. `gap` is the number of bytes before it that are not kept any more. */
export interface ConsolePiece {
  readonly offset: number
  readonly bytes: Buffer
  readonly gap?: number
}

const pieceSize = 64 * 1024

/**
 * Reads a machine's serial output from an offset to its present end, a piece at a time. Output that was rotated away before it was
 * read makes a gap.
 */
export async function* readPieces(home: string, from: number): AsyncGenerator<ConsolePiece> {
  const { offset: first, end } = await readSerialOutput(home, from, 0)
  for (let position = from < 0 ? first : Math.min(from, end); position < end;) {
    const { bytes, offset } = await readSerialOutput(home, position, Math.min(pieceSize, end - position))
    if (bytes.length === 0 && offset <= position) return
    yield { offset, bytes, ...(offset > position && { gap: offset - position }) }
    position = offset + bytes.length
  }
}

/** The entry that stands in a text for output that is gone. */
export const formatGap = ({ offset, gap = 0 }: ConsolePiece): string =>
  `[${gap} bytes from offset ${offset - gap} are not kept any more]\n`
