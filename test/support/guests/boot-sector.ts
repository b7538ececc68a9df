import { writeFileSync } from 'node:fs'

/**
 * A guest of one disk sector for machines with a BIOS: 16-bit code, emitted here byte by byte.
 * It adds one to the counter in sector 1 of its disk and prints `BOOT nnnnnnnn`, then `T nnnnnnnn` nine times a second from
 * memory. The ACPI power button makes it say BYE and power off. Keys: q powers off, r resets, i ignores the power button
 * from then on, h hangs with interrupts off; others, and i, are echoed.
 */
const powerBase = 0x600
const ticksPerLine = 2
const origin = 0x7c00

type Fix = readonly [at: number, label: string, kind: 'short' | 'near' | 'absolute']

interface Code {
  readonly bytes: number[]
  label(name: string): void
  emit(...bytes: number[]): void
  short(opcode: number, label: string): void
  call(label: string): void
  jump(label: string): void
  address(label: string): void
  dx(value: number): void
  ax(value: number): void
  text(label: string, value: string): void
  finish(): number[]
}

/** Code that begins at 7c00, where a BIOS loads the first sector of a disk. */
export const createCode = (): Code => {
  const bytes: number[] = []
  const labels = new Map<string, number>()
  const fixes: Fix[] = []
  const emit = (...more: number[]): void => void bytes.push(...more)
  const label = (name: string): void => void labels.set(name, bytes.length)
  const word = (name: string, kind: Fix[2]): void => {
    emit(0, 0)
    fixes.push([bytes.length - 2, name, kind])
  }
  return {
    bytes,
    label,
    emit,
    short(opcode, name) {
      emit(opcode, 0)
      fixes.push([bytes.length - 1, name, 'short'])
    },
    call(name) {
      emit(0xe8)
      word(name, 'near')
    },
    jump(name) {
      emit(0xe9)
      word(name, 'near')
    },
    address: name => word(name, 'absolute'),
    dx: value => emit(0xba, value & 255, value >> 8),
    ax: value => emit(0xb8, value & 255, value >> 8),
    text(name, value) {
      label(name)
      emit(...Buffer.from(`${value}\0`, 'latin1'))
    },
    finish() {
      for (const [at, name, kind] of fixes) {
        const target = labels.get(name)!
        const value = kind === 'absolute' ? origin + target : target - at - (kind === 'short' ? 1 : 2)
        bytes[at] = value & 255
        if (kind !== 'short') bytes[at + 1] = (value >> 8) & 255
      }
      return bytes
    },
  }
}

const [JZ, JNZ, JNS, LOOP, JMP] = [0x74, 0x75, 0x79, 0xe2, 0xeb] as const

const program = (): number[] => {
  const c = createCode()
  c.emit(0xfa, 0x31, 0xc0, 0x8e, 0xd8, 0x8e, 0xc0, 0x8e, 0xd0, 0xbc, 0x00, 0x7c, 0xfb) // segments 0, stack below the code
  c.emit(0x88, 0x16)
  c.address('drive') // the BIOS gives the boot drive in dl
  c.emit(0xb4, 0x42)
  c.call('disk') // read sector 1 to 8000
  c.emit(0x66, 0xff, 0x06, 0x00, 0x80) // inc dword [8000]
  c.emit(0xb4, 0x43)
  c.call('disk') // write it back
  c.emit(0x66, 0x31, 0xed) // ebp = tick = 0
  c.dx(powerBase + 2)
  c.ax(0x0100)
  c.emit(0xef) // enable the power button
  c.emit(0xbe)
  c.address('sBoot')
  c.call('puts')
  c.emit(0x66, 0xa1, 0x00, 0x80)
  c.call('hexLine') // eax = [8000]
  c.label('line')
  c.emit(0x8b, 0x0e, 0x6c, 0x04, 0x83, 0xc1, ticksPerLine, 0x89, 0x0e)
  c.address('due') // due = BIOS clock + ticks
  c.label('poll')
  c.dx(0x3fd)
  c.emit(0xec, 0xa8, 0x01)
  c.short(JNZ, 'key') // a byte on the serial line
  c.dx(powerBase)
  c.emit(0xed, 0xf6, 0xc4, 0x01)
  c.short(JNZ, 'button')
  c.label('back')
  c.emit(0xf4) // hlt: the timer wakes it 18 times a second
  c.emit(0x8b, 0x0e, 0x6c, 0x04, 0x2b, 0x0e)
  c.address('due')
  c.short(JNS, 'tick')
  c.short(JMP, 'poll')
  c.label('tick')
  c.emit(0x66, 0x45)
  c.emit(0xbe)
  c.address('sTick')
  c.call('puts')
  c.emit(0x66, 0x89, 0xe8)
  c.call('hexLine')
  c.jump('line')
  c.label('key')
  c.dx(0x3f8)
  c.emit(0xec, 0x3c, 0x71)
  c.short(JZ, 'off')
  c.emit(0x3c, 0x72)
  c.short(JZ, 'reset')
  c.emit(0x3c, 0x68)
  c.short(JZ, 'hang')
  c.emit(0x3c, 0x69)
  c.short(JNZ, 'echo')
  c.emit(0xc6, 0x06)
  c.address('ignore')
  c.emit(0x01)
  c.label('echo')
  c.call('putc')
  c.jump('back')
  c.label('hang')
  c.emit(0xfa, 0xf4)
  c.short(JMP, 'hang')
  c.label('reset')
  c.emit(0xb0, 0xfe, 0xe6, 0x64) // by the keyboard controller
  c.short(JMP, 'reset')
  c.label('button')
  c.dx(powerBase)
  c.ax(0x0100)
  c.emit(0xef) // written back, the status bit is cleared
  c.emit(0x80, 0x3e)
  c.address('ignore')
  c.emit(0x00)
  c.short(JNZ, 'back')
  c.emit(0xbe)
  c.address('sBye')
  c.call('puts')
  c.label('off')
  c.dx(powerBase + 4)
  c.ax(0x2000)
  c.emit(0xef) // sleep state S5
  c.short(JMP, 'hang')
  c.label('disk')
  c.emit(0xb0, 0x00, 0xbe)
  c.address('packet')
  c.emit(0x8a, 0x16)
  c.address('drive')
  c.emit(0xcd, 0x13, 0xc3)
  c.label('putc')
  c.emit(0x50)
  c.dx(0x3fd)
  c.label('putcWait')
  c.emit(0xec, 0xa8, 0x20)
  c.short(JZ, 'putcWait')
  c.emit(0x58)
  c.dx(0x3f8)
  c.emit(0xee, 0xc3)
  c.label('puts')
  c.emit(0xac, 0x84, 0xc0)
  c.short(JZ, 'putsEnd')
  c.call('putc')
  c.short(JMP, 'puts')
  c.label('putsEnd')
  c.emit(0xc3)
  c.label('hexLine')
  c.emit(0xb9, 0x08, 0x00)
  c.label('hexDigit')
  c.emit(0x66, 0xc1, 0xc0, 0x04, 0x66, 0x50, 0x24, 0x0f, 0x3c, 0x0a, 0x1c, 0x69, 0x2f) // nibble to digit
  c.call('putc')
  c.emit(0x66, 0x58)
  c.short(LOOP, 'hexDigit')
  c.emit(0xbe)
  c.address('sEnd')
  c.short(JMP, 'puts')
  c.text('sBoot', 'BOOT ')
  c.text('sTick', 'T ')
  c.text('sBye', 'BYE\r\n')
  c.text('sEnd', '\r\n')
  c.label('drive')
  c.emit(0)
  c.label('ignore')
  c.emit(0)
  c.label('due')
  c.emit(0, 0)
  c.label('packet')
  c.emit(0x10, 0, 1, 0, 0x00, 0x80, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0) // one sector, to 0000:8000, from block 1
  return c.finish()
}

/** Writes a raw disk of `size` bytes that boots into the guest. */
export const buildBootSectorDisk = (path: string, size = 1 << 20): void => {
  const disk = Buffer.alloc(size)
  Buffer.from(program()).copy(disk)
  disk.writeUInt16LE(0xaa55, 510)
  writeFileSync(path, disk)
}
