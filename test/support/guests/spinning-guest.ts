import { writeFileSync } from 'node:fs'

/** `cli`, and a jump to itself: a guest that uses a whole CPU from its first instruction on. */
const program = Buffer.of(0xfa, 0xeb, 0xfe)

/** Writes a raw disk of one megabyte that boots into the guest. */
export const buildSpinningDisk = (path: string): void => {
  const disk = Buffer.alloc(1 << 20)
  program.copy(disk)
  disk.writeUInt16LE(0xaa55, 510)
  writeFileSync(path, disk)
}
