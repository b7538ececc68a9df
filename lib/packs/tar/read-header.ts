import { InvalidPackError } from '../pack-errors.ts'
import { blockSize } from './header.ts'

/** The fields of one header. The service does not read owners, devices and link targets. */
export interface TarHeader {
  /** One character. `0` and `5` also stand for what older programs write for a file and a folder. */
  readonly type: string
  readonly name: string
  /** Bytes of content after the header. */
  readonly size: number
  readonly mode: number
  /** Seconds since 1970. */
  readonly seconds: number
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Decodes a name. Throws `invalid` for bytes that are not UTF-8. */
export const decodeUtf8 = (bytes: Uint8Array): string => {
  try {
    return utf8.decode(bytes)
  } catch {
    throw new InvalidPackError('it has a name that is not UTF-8')
  }
}

/** Decodes a text field, which ends at its first NUL. Anything after that would be a hidden name, so it is refused. */
const decodeText = (field: Buffer): string => {
  const end = field.indexOf(0)
  if (end < 0) return decodeUtf8(field)
  if (field.subarray(end).some(byte => byte !== 0)) throw new InvalidPackError('it has a name with a NUL in it')
  return decodeUtf8(field.subarray(0, end))
}

/** Decodes octal digits, or the binary form of GNU tar for large numbers. */
const decodeNumber = (field: Buffer): number => {
  if (((field[0] ?? 0) & 0x80) !== 0) {
    let value = (field[0] ?? 0) & 0x7f
    for (const byte of field.subarray(1)) value = value * 256 + byte
    // The first bit marks the binary form, the second one is the sign.
    if (((field[0] ?? 0) & 0x40) !== 0 || !Number.isSafeInteger(value))
      throw new InvalidPackError('it has a number out of range')
    return value
  }
  const digits = /^ *([0-7]*)[ \0]*$/.exec(field.toString('latin1'))?.[1]
  if (digits === undefined) throw new InvalidPackError('it has a number that is not octal')
  return digits === '' ? 0 : Number.parseInt(digits, 8)
}

/** Accepts the sum of signed bytes too, because some old programs write that. */
const hasValidChecksum = (block: Buffer): boolean => {
  let [unsigned, signed] = [8 * 32, 8 * 32]
  for (let at = 0; at < blockSize; at++) {
    if (at >= 148 && at < 156) continue
    unsigned += block.readUInt8(at)
    signed += block.readInt8(at)
  }
  const recorded = /^[ \0]*([0-7]+)[ \0]*$/.exec(block.toString('latin1', 148, 156))?.[1]
  const sum = recorded === undefined ? undefined : Number.parseInt(recorded, 8)
  return sum === unsigned || sum === signed
}

/** Decodes one header. Throws `invalid` for a block that is not a header. */
export const readHeader = (block: Buffer): TarHeader => {
  if (!hasValidChecksum(block)) throw new InvalidPackError('it is neither gzip nor zstd nor tar, or it is damaged')
  const type = block.toString('latin1', 156, 157)
  // Only POSIX has a prefix there. GNU tar has times.
  const prefix = block.toString('latin1', 257, 263) === 'ustar\0' ? decodeText(block.subarray(345, 500)) : ''
  const shortName = decodeText(block.subarray(0, 100))
  const name = prefix === '' ? shortName : `${prefix}/${shortName}`
  const isNegativeTime = ((block[136] ?? 0) & 0xc0) === 0xc0
  return {
    type: type === '\0' ? (name.endsWith('/') ? '5' : '0') : type === '7' ? '0' : type,
    name,
    size: decodeNumber(block.subarray(124, 136)),
    mode: decodeNumber(block.subarray(100, 108)) & 0o777,
    seconds: isNegativeTime ? 0 : decodeNumber(block.subarray(136, 148)),
  }
}
