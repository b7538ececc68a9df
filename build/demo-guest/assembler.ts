/** The 32-bit registers in the order in which instructions number them. */
const registers = ['eax', 'ecx', 'edx', 'ebx', 'esp', 'ebp', 'esi', 'edi'] as const
export type Register = (typeof registers)[number]

/** Condition codes of `Jcc`, by what they ask. */
const conditions = { below: 2, equal: 4, notEqual: 5, negative: 8, less: 12 } as const
export type Condition = keyof typeof conditions

/** A number, or the address that a label will have. */
export type Value = number | { readonly label: string }

/** Collects machine code for 32-bit x86. Labels may be used before they are defined. */
export interface Assembler {
  /** Gives the present position a name. */
  label(name: string): void
  /** Instructions or data as they are. */
  bytes(...values: number[]): void
  /** 32 bits, little-endian. */
  dword(value: Value): void
  /** A label with Latin-1 text behind it, ended by a zero byte. */
  text(name: string, text: string): void
  /** MOV register, value */
  set(register: Register, value: Value): void
  /** AL = value; OUT to a port below 256. */
  outLow(port: number, value: number): void
  /** EDX = port, AL = value; OUT DX, AL. */
  out(port: number, value: number): void
  /** EDX = port, AX = value; OUT DX, AX. */
  outWord(port: number, value: number): void
  /** CMP AL, value */
  compare(value: number): void
  call(label: string): void
  jump(label: string): void
  jumpIf(condition: Condition, label: string): void
  /** DEC ECX, back to the label until it is zero; the label must be within 128 bytes. */
  loop(label: string): void
  /** The finished code. Throws on a label that nothing defines. */
  finish(): Uint8Array
}

interface Fixup {
  readonly at: number
  readonly label: string
  readonly kind: 'absolute' | 'relative' | 'short'
}

/** An assembler for code that will be loaded at the address `origin`. */
export const createAssembler = (origin: number): Assembler => {
  const code: number[] = []
  const labels = new Map<string, number>()
  const fixups: Fixup[] = []

  const bytes = (...values: number[]): void => void code.push(...values)
  const number = (value: number): void =>
    bytes(value & 255, (value >>> 8) & 255, (value >>> 16) & 255, (value >>> 24) & 255)
  const refer = (label: string, kind: Fixup['kind']): void => {
    fixups.push({ at: code.length, label, kind })
    if (kind === 'short') bytes(0)
    else number(0)
  }
  const dword = (value: Value): void => (typeof value === 'number' ? number(value) : refer(value.label, 'absolute'))
  const set = (register: Register, value: Value): void => {
    bytes(0xb8 + registers.indexOf(register))
    dword(value)
  }
  const label = (name: string): void => void labels.set(name, code.length)

  return {
    label,
    bytes,
    dword,
    set,
    text(name, text) {
      label(name)
      bytes(...Buffer.from(`${text}\0`, 'latin1'))
    },
    outLow: (port, value) => bytes(0xb0, value, 0xe6, port),
    out(port, value) {
      set('edx', port)
      bytes(0xb0, value, 0xee)
    },
    outWord(port, value) {
      set('edx', port)
      bytes(0x66, 0xb8, value & 255, value >>> 8, 0x66, 0xef)
    },
    compare: value => bytes(0x3c, value),
    call(name) {
      bytes(0xe8)
      refer(name, 'relative')
    },
    jump(name) {
      bytes(0xe9)
      refer(name, 'relative')
    },
    jumpIf(condition, name) {
      bytes(0x0f, 0x80 | conditions[condition])
      refer(name, 'relative')
    },
    loop(name) {
      bytes(0xe2)
      refer(name, 'short')
    },
    finish() {
      const image = Uint8Array.from(code)
      const view = new DataView(image.buffer)
      for (const { at, label, kind } of fixups) {
        const target = labels.get(label)
        if (target === undefined) throw new Error(`no label is called ${label}`)
        if (kind === 'absolute') view.setUint32(at, origin + target, true)
        else if (kind === 'relative') view.setInt32(at, target - at - 4, true)
        else if (target - at - 1 < -128) throw new Error(`${label} is too far for a short jump`)
        else view.setInt8(at, target - at - 1)
      }
      return image
    },
  }
}
