import { glyphHeight, glyphs } from '#lib/hypervisor/embedded/screen/spleen/glyphs.ts'
import type { Picture } from './png.ts'

/** The pixels of one character of a screen with 80 by 25 of them, row by row. */
export const cutCharacter = ({ width, height, pixels }: Picture, row: number, column: number): number[] => {
  const [cellWidth, cellHeight] = [width / 80, height / 25]
  return Array.from({ length: cellHeight }, (_, y) => {
    const from = (row * cellHeight + y) * width + column * cellWidth
    return pixels.slice(from, from + cellWidth)
  }).flat()
}

/** The rows of glyphs as text, by which a character is found. */
const characters = new Map(
  Array.from({ length: 95 }, (_, at) => at + 0x20).map(code => [
    Buffer.from(glyphs.subarray(code * glyphHeight, (code + 1) * glyphHeight)).toString('hex'),
    String.fromCharCode(code),
  ]),
)

const readCharacter = (pixels: readonly number[]): string => {
  const width = pixels.length / glyphHeight
  const rows = Array.from({ length: glyphHeight }, (_, y) =>
    pixels.slice(y * width, y * width + 8).reduce((bits, pixel) => bits * 2 + Number(pixel !== 0), 0),
  )
  return characters.get(Buffer.from(rows).toString('hex')) ?? '?'
}

/** Reads the text on a black screen of the embedded driver, row by row; `?` for what is no letter, such as the cursor. */
export const readScreenText = (picture: Picture): string[] =>
  Array.from({ length: 25 }, (_, row) =>
    Array.from({ length: 80 }, (_, column) => readCharacter(cutCharacter(picture, row, column)))
      .join('')
      .trimEnd(),
  )
