import type { V86 } from 'v86'
import { drawGraphics } from './draw-graphics.ts'
import { drawText } from './draw-text.ts'
import { createPicture, type Picture } from './picture.ts'
import { encodePng } from './png.ts'
import { getVga, type Vga } from './vga.ts'

/** The bit by which a guest switches the picture off. */
const screenOff = 0x20

/** Switched off, the screen keeps its size. */
const drawScreen = (vga: Vga): Picture => {
  const picture = vga.graphical_mode ? drawGraphics(vga) : drawText(vga)
  const isOff = vga.palette_source === 0 || (vga.clocking_mode & screenOff) !== 0
  return isOff && !vga.svga_enabled ? createPicture(picture.width, picture.height) : picture
}

/** Draws the screen of a machine as a PNG. */
export const takeScreenshot = (emulator: V86): Uint8Array<ArrayBuffer> => encodePng(drawScreen(getVga(emulator)))
