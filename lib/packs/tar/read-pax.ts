import { broken } from '../damaged.ts'
import { textOf } from './read-header.ts'

/** What a PAX header says instead of the header behind it. */
export interface Overrides {
  name?: string
  size?: number
  seconds?: number
}

const number = (key: string, value: string, form: RegExp): number => {
  const read = Number(value)
  if (!form.test(value) || !Number.isSafeInteger(Math.trunc(read))) throw broken(`its PAX ${key} is no number`)
  return read
}

/** The records of a PAX header, checked for their lengths. */
function* recordsOf(bytes: Buffer): Generator<readonly [key: string, value: Buffer]> {
  for (let at = 0; at < bytes.length;) {
    const space = bytes.indexOf(0x20, at)
    const digits = space < 0 ? '' : bytes.toString('latin1', at, Math.min(space, at + 12))
    const end = at + Number(digits)
    const equals = bytes.indexOf(0x3d, space)
    if (!/^[1-9]\d*$/.test(digits) || end > bytes.length || bytes[end - 1] !== 0x0a || equals < 0 || equals >= end)
      throw broken('it has a PAX header that is damaged')
    yield [bytes.toString('latin1', space + 1, equals), bytes.subarray(equals + 1, end - 1)]
    at = end
  }
}

/**
 * Reads a PAX header. Unknown keys are left aside, as the format asks. Throws `invalid` for one that is damaged, and for
 * sparse files in GNU's form and links, whose entries would mean something else without them.
 */
export const readPax = (bytes: Buffer): Readonly<Overrides> => {
  const found: Overrides = {}
  for (const [key, value] of recordsOf(bytes)) {
    if (key.startsWith('GNU.sparse.'))
      throw broken('it has sparse files in the form of GNU tar; pack without --sparse, holes come back by themselves')
    if (key === 'linkpath') throw broken('it has a link')
    if (key === 'path') found.name = textOf(value)
    if (key === 'size') found.size = number(key, value.toString('latin1'), /^\d+$/)
    if (key === 'mtime') {
      const seconds = number(key, value.toString('latin1'), /^-?\d+(\.\d*)?$/)
      found.seconds = Math.max(0, Math.floor(seconds))
    }
  }
  return found
}
