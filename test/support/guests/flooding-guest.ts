import { writeFileSync } from 'node:fs'

/** 16-bit code that sends the bytes 0 to 255 over and over, each as soon as the serial line takes it. */
const program = [
  0x31,
  0xdb, // bl = 0
  0xba,
  0xfd,
  0x03,
  0xec,
  0xa8,
  0x20,
  0x74,
  0xfb, // until the line is free
  0xba,
  0xf8,
  0x03,
  0x88,
  0xd8,
  0xee,
  0xfe,
  0xc3, // send bl, and count
  0xeb,
  0xee,
]

/** Writes a raw disk that boots into a guest whose serial output has no end. */
export const buildFloodingDisk = (path: string): void => {
  const disk = Buffer.alloc(1 << 20)
  disk.set(program)
  disk.writeUInt16LE(0xaa55, 510)
  writeFileSync(path, disk)
}

/** True if the output of such a guest has no gap. */
export const isUnbroken = (bytes: Uint8Array): boolean =>
  bytes.every((byte, at) => at === 0 || byte === ((bytes[at - 1]! + 1) & 255))
