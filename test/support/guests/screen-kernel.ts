import { createAssembler } from '#build/demo-guest/assembler.ts'

const origin = 0x100000
const serial = 0x3f8
/** The screen of the text mode, and the picture of the graphics mode. */
const [textScreen, pixels] = [0xb8000, 0xe0000000] as const
/** The byte that switches the guest to its graphics mode. */
export const graphicsKey = 1

/** Width, height, bits of a pixel, and on; by the numbers of their registers (Bochs VBE). */
const graphicsMode = [
  [1, 320],
  [2, 200],
  [3, 32],
  [4, 0x41],
] as const

/**
 * A multiboot kernel for machines without a BIOS. It prints `>` on its serial line and on the screen when it is ready. A byte from the
 * serial line goes to the screen; the byte 1 switches to 320 by 200 pixels, of which the first row is red.
 */
export const buildScreenKernel = (): Uint8Array => {
  const a = createAssembler(origin)
  const flags = 0x10000
  for (const value of [0x1badb002, flags, -(0x1badb002 + flags), origin, origin, 0, 0, { label: 'start' }])
    a.dword(value)
  a.label('start')
  a.set('esp', 0x180000)
  a.set('edi', textScreen)
  a.out(serial, 0x3e)
  a.call('show')
  a.label('poll')
  a.set('edx', serial + 5)
  a.bytes(0xec, 0xa8, 1) // in al, dx; test al, 1: is there input?
  a.jumpIf('equal', 'poll')
  a.set('edx', serial)
  a.bytes(0xec) // in al, dx
  a.compare(graphicsKey)
  a.jumpIf('equal', 'graphics')
  a.call('show')
  a.jump('poll')
  a.label('show')
  a.bytes(0xb4, 7, 0x66, 0xab, 0xc3) // mov ah, 7: light grey; stosw; ret
  a.label('graphics')
  for (const [register, value] of graphicsMode) {
    a.outWord(0x1ce, register)
    a.outWord(0x1cf, value)
  }
  a.set('edi', pixels)
  a.set('eax', 0xff0000)
  a.set('ecx', 320)
  a.bytes(0xf3, 0xab) // rep stosd
  a.jump('poll')
  return a.finish()
}
