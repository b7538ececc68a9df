import { inflateSync } from 'node:zlib'

/** A decoded picture: its pixels, each a number of three bytes, row by row. */
export interface Picture {
  readonly width: number
  readonly height: number
  readonly pixels: readonly number[]
}

const signature = Buffer.from('89504e470d0a1a0a', 'hex')

/** Predicts a byte from the one on its left, the one above, and the one above that on the left (PNG, 9.4). */
const predictPaeth = (left: number, above: number, corner: number): number => {
  const estimate = left + above - corner
  const [toLeft, toAbove, toCorner] = [left, above, corner].map(value => Math.abs(estimate - value)) as [
    number,
    number,
    number,
  ]
  if (toLeft <= toAbove && toLeft <= toCorner) return left
  return toAbove <= toCorner ? above : corner
}

const predict = (filter: number, left: number, above: number, corner: number): number =>
  [0, left, above, (left + above) >> 1, predictPaeth(left, above, corner)][filter]!

/** Decodes a PNG of eight bits for each of red, green and blue, with or without alpha, that is not interlaced. Throws for others. */
export const decodePng = (bytes: Uint8Array): Picture => {
  const file = Buffer.from(bytes)
  if (!file.subarray(0, 8).equals(signature)) throw new Error('not a PNG')
  const data: Buffer[] = []
  let header = Buffer.alloc(0)
  for (let at = 8; at < file.length;) {
    const length = file.readUInt32BE(at)
    const content = file.subarray(at + 8, at + 8 + length)
    const type = file.toString('latin1', at + 4, at + 8)
    if (type === 'IHDR') header = Buffer.from(content)
    if (type === 'IDAT') data.push(content)
    at += length + 12
  }
  const [width, height] = [header.readUInt32BE(0), header.readUInt32BE(4)]
  const [depth, colors, , , interlaced] = header.subarray(8)
  const channels = { 2: 3, 6: 4 }[colors!]
  if (depth !== 8 || interlaced !== 0 || channels === undefined) throw new Error('a PNG of another kind')
  const raw = inflateSync(Buffer.concat(data))
  const stride = width * channels
  if (raw.length !== height * (stride + 1)) throw new Error('a PNG with another size than it says')
  let above = Buffer.alloc(stride)
  const pixels: number[] = []
  for (let y = 0; y < height; y += 1) {
    const from = y * (stride + 1)
    const row = Buffer.from(raw.subarray(from + 1, from + 1 + stride))
    for (let x = 0; x < stride; x += 1) {
      const [left, corner] = x < channels ? [0, 0] : [row[x - channels]!, above[x - channels]!]
      row[x] = row[x]! + predict(raw[from]!, left, above[x]!, corner)
    }
    for (let x = 0; x < stride; x += channels) pixels.push(row.readUIntBE(x, 3))
    above = row
  }
  return { width, height, pixels }
}
