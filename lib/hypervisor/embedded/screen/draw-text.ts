import { createPicture, type Picture, pixelSize } from './picture.ts'
import type { Vga } from './vga.ts'

/** Bytes of a glyph, and of a font, in the memory of a VGA. */
const [glyphSize, fontSize] = [32, 0x2000] as const
/** The places of the fonts by their numbers, as a multiple of the size. */
const fontPlaces = [0, 2, 4, 6, 1, 3, 5, 7] as const

/** Returns the numbers of the two fonts: of characters with the bit 3 of their attribute, and of those without it. */
const getFonts = ({ character_map_select: select }: Vga): readonly [number, number] => [
  ((select >> 2) & 3) | ((select >> 3) & 4),
  (select & 3) | ((select >> 2) & 4),
]

/** The characters that touch the next one on their right, if a cell is 9 pixels wide: those for frames. */
const isFrame = (character: number): boolean => character >= 0xc0 && character <= 0xdf

/** A cell of the screen, and where it is in the picture. */
interface Cell {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}

const fillCell = (
  { width, pixels }: Picture,
  cell: Cell,
  hasInk: (x: number, y: number) => boolean,
  [ink, paper]: readonly [number, number],
): void => {
  for (let y = 0; y < cell.height; y += 1)
    for (let x = 0; x < cell.width; x += 1) {
      const color = hasInk(x, y) ? ink : paper
      const at = ((cell.y + y) * width + cell.x + x) * pixelSize
      pixels[at] = color >> 16
      pixels[at + 1] = color >> 8
      pixels[at + 2] = color
    }
}

/** Draws what a VGA in text mode shows. Characters that blink, and the cursor, are in the picture. */
export const drawText = (vga: Vga): Picture => {
  const height = (vga.max_scan_line & 31) + 1
  const width = vga.clocking_mode & 1 ? 8 : 9
  const picture = createPicture(vga.max_cols * width, vga.max_rows * height)
  const rowLength = Math.max(vga.max_cols, vga.offset_register * 2)
  const fonts = getFonts(vga)
  // With two fonts, the bit that chooses one is no part of the colour. Nor is that which makes characters blink.
  const inkMask = fonts[0] === fonts[1] ? 15 : 7
  const paperMask = vga.attribute_mode & 8 ? 7 : 15
  const getColor = (number: number): number => vga.vga256_palette[vga.dac_mask & (vga.dac_map[number] ?? 0)] ?? 0
  const cursorStart = vga.cursor_scanline_start & 31
  const cursorEnd = vga.cursor_scanline_start & 32 ? -1 : vga.cursor_scanline_end & 31

  for (let row = 0; row < vga.max_rows; row += 1)
    for (let column = 0; column < vga.max_cols; column += 1) {
      const address = vga.start_address + row * rowLength + column
      const character = vga.vga_memory[address * 2] ?? 0
      const attribute = vga.vga_memory[address * 2 + 1] ?? 0
      const font = fontPlaces[fonts[attribute & 8 ? 0 : 1]] ?? 0
      const glyph = font * fontSize + character * glyphSize
      const hasWideGlyph = (vga.attribute_mode & 4) !== 0 && isFrame(character)
      const isCursor = address === vga.cursor_address
      const hasInk = (x: number, y: number): boolean =>
        (isCursor && y >= cursorStart && y <= cursorEnd) ||
        ((x < 8 || hasWideGlyph) && ((vga.plane2[glyph + y] ?? 0) & (0x80 >> Math.min(x, 7))) !== 0)
      const colors = [getColor(attribute & inkMask), getColor((attribute >> 4) & paperMask)] as const
      fillCell(picture, { x: column * width, y: row * height, width, height }, hasInk, colors)
    }
  return picture
}
