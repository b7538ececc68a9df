import { createPicture, type Picture, pixelSize } from './picture.ts'
import type { Layer, Vga } from './vga.ts'

/** What v86 makes of the class of browsers with this name: it keeps the pixels that it draws there. */
class DrawnPixels {
  readonly data: Uint8ClampedArray
  readonly width: number
  readonly height: number
  constructor(data: Uint8ClampedArray, width: number, height: number) {
    this.data = data
    this.width = width
    this.height = height
  }
}

/** Has the emulators of this thread draw the graphics modes of their guests. Without it, v86 does so in browsers only. */
export const enableGraphics = (): void => void Object.assign(globalThis, { ImageData: DrawnPixels })

/** Draws what a VGA in a graphics mode shows. */
export const drawGraphics = (vga: Vga): Picture => {
  const { screen_width: width, screen_height: height } = vga
  const picture = createPicture(width, height)
  // The guest has switched to graphics, but has not set a size yet.
  if (!vga.image_data) return picture
  vga.screen_fill_buffer()
  const whole: Layer = {
    ...{ screen_x: 0, screen_y: 0, buffer_x: 0, buffer_y: 0 },
    ...{ buffer_width: width, buffer_height: height },
  }
  const { data, width: stride } = vga.image_data
  for (const layer of vga.svga_enabled ? [whole] : vga.layers) {
    const left = Math.max(layer.screen_x, 0)
    const right = Math.min(layer.screen_x + layer.buffer_width, width)
    const bottom = Math.min(layer.screen_y + layer.buffer_height, height)
    for (let y = Math.max(layer.screen_y, 0); y < bottom; y += 1)
      for (let x = left; x < right; x += 1) {
        const from = ((layer.buffer_y + y - layer.screen_y) * stride + layer.buffer_x + x - layer.screen_x) * 4
        const to = (y * width + x) * pixelSize
        for (let part = 0; part < pixelSize; part += 1) picture.pixels[to + part] = data[from + part] ?? 0
      }
  }
  return picture
}
