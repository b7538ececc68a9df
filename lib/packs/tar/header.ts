// This folder encodes and decodes headers itself. Of the libraries, tar-stream refuses packs without their last padding,
// which some services write, and modern-tar accepts those only together with files that were cut off. Both cut names at a
// NUL and replace bytes that are not UTF-8, so the service would not check what was sent.

/** Bytes of a header. Everything in a tar is padded to a multiple of it. */
export const blockSize = 512

/** The largest number of eleven octal digits: as a size one byte less than 8 GiB. */
export const maxOctal = 0o77777777777

/** Returns the number of bytes that fill up the last block of `size` bytes. */
export const getPaddingSize = (size: number): number => (blockSize - (size % blockSize)) % blockSize

interface HeaderFields {
  /** ASCII, at most 100 bytes. */
  readonly name: string
  readonly size: number
  readonly mode: number
  readonly seconds: number
  readonly type: '0' | 'x'
}

/** Encodes a ustar header (POSIX.1-1988). */
const encodeHeader = ({ name, size, mode, seconds, type }: HeaderFields): Buffer => {
  const block = Buffer.alloc(blockSize)
  const writeOctal = (value: number, at: number, digits: number): void => {
    block.write(value.toString(8).padStart(digits, '0'), at, 'latin1')
  }
  block.write(name, 0, 'latin1')
  writeOctal(mode, 100, 7)
  writeOctal(0, 108, 7)
  writeOctal(0, 116, 7)
  writeOctal(size, 124, 11)
  writeOctal(seconds, 136, 11)
  block.write(type, 156, 'latin1')
  block.write('ustar\x0000', 257, 'latin1')
  writeOctal(0, 329, 7)
  writeOctal(0, 337, 7)
  block.fill(' ', 148, 156)
  let sum = 0
  for (const byte of block) sum += byte
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1')
  return block
}

/** Encodes a PAX record, `length key=value\n`, whose length counts itself too (POSIX.1-2001). */
const encodePaxRecord = (key: string, value: string): string => {
  const content = ` ${key}=${value}\n`
  const bytes = Buffer.byteLength(content)
  let length = bytes + String(bytes).length
  if (bytes + String(length).length > length) length++
  return `${length}${content}`
}

/** Encodes the header of a file, after a PAX header when a ustar header cannot hold its name or its size. */
export const encodeFileHeader = (file: { name: string; size: number; mode: number; modifiedAt: Date }): Buffer => {
  const { name, size } = file
  const seconds = Math.min(Math.max(Math.floor(file.modifiedAt.getTime() / 1000), 0), maxOctal)
  const mode = file.mode & 0o755
  const isPlainName = name.length <= 100 && /^[\x20-\x7e]*$/.test(name)
  const records = [
    ...(isPlainName ? [] : [encodePaxRecord('path', name)]),
    ...(size > maxOctal ? [encodePaxRecord('size', String(size))] : []),
  ]
  const header = encodeHeader({
    name: isPlainName ? name : name.replaceAll(/[^\x20-\x7e]/g, '_').slice(0, 100),
    size: size > maxOctal ? 0 : size,
    mode,
    seconds,
    type: '0',
  })
  if (records.length === 0) return header
  const pax = Buffer.from(records.join(''))
  const paxHeader = encodeHeader({ name: 'pax', size: pax.length, mode: 0o644, seconds, type: 'x' })
  return Buffer.concat([paxHeader, pax, Buffer.alloc(getPaddingSize(pax.length)), header])
}
