/** Values of Mach-O, the format of programs on macOS. */
const magic = 0xfeedfacf
const headerSize = 32
const segmentCommand = 0x19
const codeSignatureCommand = 0x1d
const armProcessor = 0x0100000c
const nameLength = 16

/** What the build and its tests ask of a program for macOS. */
export interface MachO {
  readonly isArm64: boolean
  readonly segments: readonly string[]
  /** macOS on ARM ends a program at once that has none. */
  readonly isSigned: boolean
}

/** Reads the load commands of a 64-bit Mach-O file. Throws if it is none. */
export const readMachO = (bytes: Buffer): MachO => {
  if (bytes.readUInt32LE(0) !== magic) throw new Error('This is not a 64-bit Mach-O file.')
  const segments: string[] = []
  let isSigned = false
  const count = bytes.readUInt32LE(16)
  for (let index = 0, at = headerSize; index < count; index += 1) {
    const command = bytes.readUInt32LE(at)
    if (command === segmentCommand) {
      const name = bytes.toString('latin1', at + 8, at + 8 + nameLength)
      segments.push(name.replace(/\0.*$/s, ''))
    }
    if (command === codeSignatureCommand) isSigned = true
    at += bytes.readUInt32LE(at + 4)
  }
  return { isArm64: bytes.readUInt32LE(4) === armProcessor, segments, isSigned }
}
