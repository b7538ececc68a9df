import { broken } from '../damaged.ts'
import { blockSize } from './header.ts'

/** What one header says by itself. Owners, devices and link targets are not even read. */
export interface Header {
  /** One character; `0` and `5` also for what older programs write for a file and a folder. */
  readonly type: string
  readonly name: string
  /** Bytes that follow. */
  readonly size: number
  readonly mode: number
  /** Seconds since 1970. */
  readonly seconds: number
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Text of bytes that must be UTF-8. */
export const textOf = (bytes: Uint8Array): string => {
  try {
    return utf8.decode(bytes)
  } catch {
    throw broken('it has a name that is not UTF-8')
  }
}

/** The text of a field, which ends at its first NUL; something behind that is a name in hiding. */
const fieldText = (field: Buffer): string => {
  const end = field.indexOf(0)
  if (end < 0) return textOf(field)
  if (field.subarray(end).some(byte => byte !== 0)) throw broken('it has a name with a NUL in it')
  return textOf(field.subarray(0, end))
}

/** Octal digits, or the binary form that GNU tar has for large numbers. */
const fieldNumber = (field: Buffer): number => {
  if (((field[0] ?? 0) & 0x80) !== 0) {
    let value = (field[0] ?? 0) & 0x7f
    for (const byte of field.subarray(1)) value = value * 256 + byte
    // The sign is the bit below the mark.
    if (((field[0] ?? 0) & 0x40) !== 0 || !Number.isSafeInteger(value)) throw broken('it has a number out of range')
    return value
  }
  const digits = /^ *([0-7]*)[ \0]*$/.exec(field.toString('latin1'))?.[1]
  if (digits === undefined) throw broken('it has a number that is none')
  return digits === '' ? 0 : Number.parseInt(digits, 8)
}

/** Some old programs sum up signed bytes. */
const checksumFits = (block: Buffer): boolean => {
  let [unsigned, signed] = [8 * 32, 8 * 32]
  for (let at = 0; at < blockSize; at++) {
    if (at >= 148 && at < 156) continue
    unsigned += block.readUInt8(at)
    signed += block.readInt8(at)
  }
  const said = /^[ \0]*([0-7]+)[ \0]*$/.exec(block.toString('latin1', 148, 156))?.[1]
  const sum = said === undefined ? undefined : Number.parseInt(said, 8)
  return sum === unsigned || sum === signed
}

/** Reads one header. Throws `invalid` for a block that is none. */
export const readHeader = (block: Buffer): Header => {
  if (!checksumFits(block)) throw broken('it is neither gzip nor zstd nor tar, or it is damaged')
  const type = block.toString('latin1', 156, 157)
  // Only POSIX has a prefix there; GNU has times.
  const prefix = block.toString('latin1', 257, 263) === 'ustar\0' ? fieldText(block.subarray(345, 500)) : ''
  const own = fieldText(block.subarray(0, 100))
  const name = prefix === '' ? own : `${prefix}/${own}`
  const negative = ((block[136] ?? 0) & 0xc0) === 0xc0
  return {
    type: type === '\0' ? (name.endsWith('/') ? '5' : '0') : type === '7' ? '0' : type,
    name,
    size: fieldNumber(block.subarray(124, 136)),
    mode: fieldNumber(block.subarray(100, 108)) & 0o777,
    seconds: negative ? 0 : fieldNumber(block.subarray(136, 148)),
  }
}
