import { compilePattern, type LinearPattern } from '#lib/calls/linear-pattern.ts'
import { ServiceError } from '#lib/errors.ts'
import { type ConsolePiece, formatGap } from './text.ts'

/** Bytes of a line; a longer one is searched in parts. */
const maxLine = 16 * 1024
/** Instructions of a pattern, which bound the time per byte. */
const maxSize = 200

/** Compiles the pattern of a search. Throws `invalid`. */
export const compileSearch = async (pattern: string): Promise<LinearPattern> => {
  const createError = (why: string): ServiceError => new ServiceError('invalid', `search: ${why}.`)
  const compiled = await compilePattern(pattern, { createError })
  if (compiled.size > maxSize) throw createError('its pattern repeats too much')
  return compiled
}

/** A line without the carriage return that terminals want before its end. */
const trimReturn = (line: Buffer): Buffer => (line.at(-1) === 13 ? line.subarray(0, -1) : line)

/** Cuts pieces into lines without their ends. The offset is that of the line. */
async function* splitLines(pieces: AsyncIterable<ConsolePiece>): AsyncGenerator<ConsolePiece> {
  let rest = Buffer.alloc(0)
  let restOffset = 0
  for await (const piece of pieces) {
    if (piece.gap !== undefined) {
      if (rest.length > 0) yield { offset: restOffset, bytes: trimReturn(rest) }
      yield { ...piece, bytes: Buffer.alloc(0) }
      rest = Buffer.alloc(0)
    }
    const start = rest.length > 0 ? restOffset : piece.offset
    const bytes = Buffer.concat([rest, piece.bytes])
    let at = 0
    for (;;) {
      const newline = bytes.indexOf(10, at)
      const end = newline < 0 && bytes.length - at > maxLine ? at + maxLine : newline
      if (end < 0) break
      yield { offset: start + at, bytes: trimReturn(bytes.subarray(at, end)) }
      at = newline < 0 ? end : end + 1
    }
    rest = Buffer.from(bytes.subarray(at))
    restOffset = start + at
  }
  if (rest.length > 0) yield { offset: restOffset, bytes: trimReturn(rest) }
}

/** Searches pieces. Gives each line that matches as `OFFSET:LINE`, as `grep -b` does, and the gaps. */
export async function* searchLines(
  pieces: AsyncIterable<ConsolePiece>,
  pattern: LinearPattern,
): AsyncGenerator<Uint8Array> {
  for await (const line of splitLines(pieces)) {
    if (line.gap !== undefined) yield Buffer.from(formatGap(line))
    else if (pattern.findBytes(line.bytes))
      yield Buffer.concat([Buffer.from(`${line.offset}:`), line.bytes, Buffer.from('\n')])
  }
}
