import { crc32, deflateSync } from 'node:zlib'
import { type Picture, pixelSize } from './picture.ts'

const signature = Buffer.from('89504e470d0a1a0a', 'hex')

const createChunk = (type: string, content: Uint8Array): Buffer => {
  const chunk = Buffer.alloc(content.length + 12)
  chunk.writeUInt32BE(content.length, 0)
  chunk.write(type, 4, 'latin1')
  chunk.set(content, 8)
  chunk.writeUInt32BE(crc32(chunk.subarray(4, -4)), content.length + 8)
  return chunk
}

/** Encodes a picture as a PNG. */
export const encodePng = ({ width, height, pixels }: Picture): Buffer<ArrayBuffer> => {
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  // 8 bits for each of red, green and blue; not interlaced.
  header.set([8, 2, 0, 0, 0], 8)
  const rowSize = width * pixelSize
  // Each row begins with the number of its filter: 0 is none.
  const rows = Buffer.alloc(height * (rowSize + 1))
  for (let y = 0; y < height; y += 1) rows.set(pixels.subarray(y * rowSize, (y + 1) * rowSize), y * (rowSize + 1) + 1)
  return Buffer.concat([
    signature,
    createChunk('IHDR', header),
    createChunk('IDAT', deflateSync(rows)),
    createChunk('IEND', new Uint8Array()),
  ])
}
