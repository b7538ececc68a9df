/** A picture of a screen, row by row. */
export interface Picture {
  readonly width: number
  readonly height: number
  /** Red, green and blue of each pixel, a byte each. */
  readonly pixels: Uint8Array
}

/** Bytes of a pixel. */
export const pixelSize = 3

/** Makes a black picture. */
export const createPicture = (width: number, height: number): Picture => ({
  width,
  height,
  pixels: new Uint8Array(width * height * pixelSize),
})
