import { InvalidPackError } from '../pack-errors.ts'
import { decodeUtf8 } from './read-header.ts'

/** The values of a PAX header, which replace those of the next header. */
export interface PaxOverrides {
  name?: string
  size?: number
  seconds?: number
}

const parseNumber = (key: string, value: string, form: RegExp): number => {
  const parsed = Number(value)
  if (!form.test(value) || !Number.isSafeInteger(Math.trunc(parsed)))
    throw new InvalidPackError(`its PAX ${key} is no number`)
  return parsed
}

/** Splits a PAX header into its records and checks their lengths. */
function* parseRecords(bytes: Buffer): Generator<readonly [key: string, value: Buffer]> {
  for (let at = 0; at < bytes.length;) {
    const space = bytes.indexOf(0x20, at)
    const digits = space < 0 ? '' : bytes.toString('latin1', at, Math.min(space, at + 12))
    const end = at + Number(digits)
    const equals = bytes.indexOf(0x3d, space)
    if (!/^[1-9]\d*$/.test(digits) || end > bytes.length || bytes[end - 1] !== 0x0a || equals < 0 || equals >= end)
      throw new InvalidPackError('it has a PAX header that is damaged')
    yield [bytes.toString('latin1', space + 1, equals), bytes.subarray(equals + 1, end - 1)]
    at = end
  }
}

/**
 * Parses a PAX header and ignores unknown keys, as the format asks. Throws `invalid` for a damaged header. Also throws
 * `invalid` for links and for sparse files of GNU tar, because their entries mean something else without these keys.
 */
export const readPax = (bytes: Buffer): Readonly<PaxOverrides> => {
  const overrides: PaxOverrides = {}
  for (const [key, value] of parseRecords(bytes)) {
    if (key.startsWith('GNU.sparse.'))
      throw new InvalidPackError(
        'it has sparse files in the form of GNU tar; pack without --sparse, holes come back by themselves',
      )
    if (key === 'linkpath') throw new InvalidPackError('it has a link')
    if (key === 'path') overrides.name = decodeUtf8(value)
    if (key === 'size') overrides.size = parseNumber(key, value.toString('latin1'), /^\d+$/)
    if (key === 'mtime') {
      const seconds = parseNumber(key, value.toString('latin1'), /^-?\d+(\.\d*)?$/)
      overrides.seconds = Math.max(0, Math.floor(seconds))
    }
  }
  return overrides
}
