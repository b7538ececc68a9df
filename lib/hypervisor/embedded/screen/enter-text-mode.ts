import type { V86 } from 'v86'
import { glyphHeight, glyphs } from './spleen/glyphs.ts'
import { getVga, writePort } from './vga.ts'

/** Bytes of a glyph in the memory of a VGA. */
const glyphSize = 32
/** A character and its attribute: a space, light grey on black. */
const blank = [0x20, 0x07] as const

/**
 * The registers of a VGA in the mode 3, in which a BIOS leaves it: 80 by 25 characters of 9 by 16 pixels. Each group has the port of
 * an index, that of a value behind it, and the values from the first index on.
 */
const registers: readonly (readonly [index: number, value: number, values: readonly number[]])[] = [
  [0x3c4, 0x3c5, [0x03, 0x00, 0x03, 0x00, 0x02]],
  [
    0x3d4,
    0x3d5,
    [
      ...[0x5f, 0x4f, 0x50, 0x82, 0x55, 0x81, 0xbf, 0x1f, 0x00, 0x4f, 0x0d, 0x0e, 0x00],
      ...[0x00, 0x00, 0x00, 0x9c, 0x8e, 0x8f, 0x28, 0x1f, 0x96, 0xb9, 0xa3, 0xff],
    ],
  ],
  [0x3ce, 0x3cf, [0x00, 0x00, 0x00, 0x00, 0x00, 0x10, 0x0e, 0x00, 0xff]],
  // The first 16 of these choose the colours of the text mode from the palette. Index and value have the same port.
  [
    0x3c0,
    0x3c0,
    [
      ...[0x00, 0x01, 0x02, 0x03, 0x04, 0x05, 0x14, 0x07, 0x38, 0x39, 0x3a, 0x3b, 0x3c, 0x3d, 0x3e, 0x3f],
      ...[0x0c, 0x00, 0x0f, 0x08, 0x00],
    ],
  ],
]

/** A part of a colour, of 6 bits, of which a bit of its number gives two thirds and another one gives a third. */
const mixPart = (color: number, strong: number, weak: number): number =>
  (color & strong ? 0x2a : 0) + (color & weak ? 0x15 : 0)

/**
 * Brings the VGA of a machine that boots into the state in which a BIOS leaves it: a text mode with its font, its colours and an empty
 * screen. Without it, nothing that a guest writes to the screen would be seen, since the embedded machine has no BIOS.
 */
export const enterTextMode = (emulator: V86): void => {
  writePort(emulator, 0x3c2, 0x67)
  for (const [index, value, values] of registers)
    for (const [at, one] of values.entries()) {
      writePort(emulator, index, at)
      writePort(emulator, value, one)
    }
  // The screen is on.
  writePort(emulator, 0x3c0, 0x20)
  writePort(emulator, 0x3c8, 0)
  for (let color = 0; color < 64; color += 1)
    for (const [strong, weak] of [
      [4, 32],
      [2, 16],
      [1, 8],
    ] as const)
      writePort(emulator, 0x3c9, mixPart(color, strong, weak))
  const { plane2, vga_memory: memory } = getVga(emulator)
  for (let at = 0; at < 256; at += 1)
    plane2.set(glyphs.subarray(at * glyphHeight, (at + 1) * glyphHeight), at * glyphSize)
  for (let at = 0; at < 0x8000; at += 2) memory.set(blank, at)
}
