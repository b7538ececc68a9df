// Headers are made and read here by hand. Of the libraries, tar-stream refuses packs without their last padding, which
// some services write; modern-tar takes these only together with files that were cut; both cut names at a NUL and
// replace what is not UTF-8, so that what is checked is not what was sent.

/** Bytes of a header, and what everything in a tar is padded to. */
export const blockSize = 512

/** The largest size that eleven octal digits say: one byte short of 8 GiB. */
export const largestOctal = 0o77777777777

/** The bytes that fill up the last block of `size` bytes. */
export const getPaddingSize = (size: number): number => (blockSize - (size % blockSize)) % blockSize

interface Fields {
  /** ASCII, at most 100 bytes. */
  readonly name: string
  readonly size: number
  readonly mode: number
  readonly seconds: number
  readonly type: '0' | 'x'
}

/** One ustar header (POSIX.1-1988). */
const ustar = ({ name, size, mode, seconds, type }: Fields): Buffer => {
  const block = Buffer.alloc(blockSize)
  const octal = (value: number, at: number, digits: number): void => {
    block.write(value.toString(8).padStart(digits, '0'), at, 'latin1')
  }
  block.write(name, 0, 'latin1')
  octal(mode, 100, 7)
  octal(0, 108, 7)
  octal(0, 116, 7)
  octal(size, 124, 11)
  octal(seconds, 136, 11)
  block.write(type, 156, 'latin1')
  block.write('ustar\x0000', 257, 'latin1')
  octal(0, 329, 7)
  octal(0, 337, 7)
  block.fill(' ', 148, 156)
  let sum = 0
  for (const byte of block) sum += byte
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1')
  return block
}

/** `length key=value\n`, where the length counts itself too (POSIX.1-2001). */
const paxRecord = (key: string, value: string): string => {
  const rest = ` ${key}=${value}\n`
  const bytes = Buffer.byteLength(rest)
  let length = bytes + String(bytes).length
  if (bytes + String(length).length > length) length++
  return `${length}${rest}`
}

/** The header of a file, after a PAX header where ustar cannot say its name or its size. */
export const headerOf = (file: { name: string; size: number; mode: number; modifiedAt: Date }): Buffer => {
  const { name, size } = file
  const seconds = Math.min(Math.max(Math.floor(file.modifiedAt.getTime() / 1000), 0), largestOctal)
  const mode = file.mode & 0o755
  const plainName = name.length <= 100 && /^[\x20-\x7e]*$/.test(name)
  const records = [
    ...(plainName ? [] : [paxRecord('path', name)]),
    ...(size > largestOctal ? [paxRecord('size', String(size))] : []),
  ]
  const own = ustar({
    name: plainName ? name : name.replaceAll(/[^\x20-\x7e]/g, '_').slice(0, 100),
    size: size > largestOctal ? 0 : size,
    mode,
    seconds,
    type: '0',
  })
  if (records.length === 0) return own
  const pax = Buffer.from(records.join(''))
  const before = ustar({ name: 'pax', size: pax.length, mode: 0o644, seconds, type: 'x' })
  return Buffer.concat([before, pax, Buffer.alloc(getPaddingSize(pax.length)), own])
}
