import { writeFileSync } from 'node:fs'
import { createCode } from './boot-sector.ts'

const [JZ, JMP] = [0x74, 0xeb] as const

/**
 * A guest of one disk sector for machines with a BIOS and a screen, in 16-bit code. It prints `>` on its serial line when it is ready.
 * A key of the keyboard goes to the screen and to the serial line; a byte from the serial line goes to the screen.
 */
const program = (): number[] => {
  const c = createCode()
  c.emit(0xfa, 0x31, 0xc0, 0x8e, 0xd8, 0x8e, 0xc0, 0x8e, 0xd0, 0xbc, 0x00, 0x7c, 0xfb) // segments 0, stack below the code
  c.emit(0xb8, 0x03, 0x00, 0xcd, 0x10) // text mode, 80 by 25
  c.emit(0xb0, 0x3e)
  c.call('put')
  c.label('poll')
  c.emit(0xb4, 0x01, 0xcd, 0x16) // is there a key?
  c.short(JZ, 'serial')
  c.emit(0xb4, 0x00, 0xcd, 0x16)
  c.call('put')
  c.label('serial')
  c.dx(0x3fd)
  c.emit(0xec, 0xa8, 0x01)
  c.short(JZ, 'idle')
  c.dx(0x3f8)
  c.emit(0xec)
  c.call('show')
  c.short(JMP, 'poll')
  c.label('idle')
  c.emit(0xf4) // hlt: a key wakes it, and the timer 18 times a second
  c.short(JMP, 'poll')
  c.label('put')
  c.emit(0x50)
  c.dx(0x3f8)
  c.emit(0xee, 0x58)
  c.label('show')
  c.emit(0xb4, 0x0e, 0xbb, 0x07, 0x00, 0xcd, 0x10, 0xc3) // teletype output of the BIOS
  return c.finish()
}

/** Writes a raw disk of one megabyte that boots into the guest. */
export const buildScreenDisk = (path: string): void => {
  const disk = Buffer.alloc(1 << 20)
  Buffer.from(program()).copy(disk)
  disk.writeUInt16LE(0xaa55, 510)
  writeFileSync(path, disk)
}
