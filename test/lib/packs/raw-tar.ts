/** Tars made field by field, so that they can be wrong in any way. Knows nothing of the code that it tests. */

interface Raw {
  readonly name?: string | Buffer
  readonly type?: string
  /** What the header says; the size of `content` unless said. */
  readonly size?: number | string
  readonly content?: string | Uint8Array
  readonly link?: string
  readonly prefix?: string
  readonly mode?: string
  readonly mtime?: string
  readonly magic?: string
  /** Instead of the right one. */
  readonly checksum?: number
}

/** One entry: header, content, padding. */
export const entry = (raw: Raw): Buffer => {
  const {
    name = 'file',
    type = '0',
    content = '',
    link = '',
    prefix = '',
    mode = '0000644',
    mtime = '00000000000',
  } = raw
  const bytes = Buffer.from(content)
  const { size = bytes.length } = raw
  const block = Buffer.alloc(512)
  Buffer.from(name).copy(block, 0, 0, 100)
  block.write(mode, 100, 'latin1')
  block.write('0000000', 108)
  block.write('0000000', 116)
  block.write(typeof size === 'string' ? size : size.toString(8).padStart(11, '0'), 124, 'latin1')
  block.write(mtime, 136, 'latin1')
  block.write(type, 156, 'latin1')
  block.write(link, 157)
  block.write(raw.magic ?? 'ustar\x0000', 257, 'latin1')
  block.write(prefix, 345)
  block.fill(' ', 148, 156)
  const sum = raw.checksum ?? block.reduce((total, byte) => total + byte, 0)
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148)
  return Buffer.concat([block, bytes, Buffer.alloc((512 - (bytes.length % 512)) % 512)])
}

export const record = (key: string, value: string | Buffer): Buffer => {
  const rest = Buffer.concat([Buffer.from(` ${key}=`), Buffer.from(value), Buffer.from('\n')])
  let length = rest.length
  while (String(length).length + rest.length !== length) length = String(length).length + rest.length
  return Buffer.concat([Buffer.from(String(length)), rest])
}

/** A PAX header with these records; `type` is `g` for all entries to come. */
export const pax = (records: Readonly<Record<string, string | Buffer>>, type = 'x'): Buffer =>
  entry({
    name: 'pax',
    type,
    content: Buffer.concat(Object.entries(records).map(([key, value]) => record(key, value))),
  })

export const longName = (name: string | Buffer, type = 'L'): Buffer =>
  entry({
    name: '././@LongLink',
    type,
    content: Buffer.concat([Buffer.from(name), Buffer.alloc(1)]),
    magic: 'ustar  \0',
  })

export const end = Buffer.alloc(1024)

export const tar = (...parts: readonly Buffer[]): Buffer => Buffer.concat([...parts, end])

/** Bytes as a stream in parts of `size`. */
export const streamOf = (bytes: Uint8Array, size = 65_536): ReadableStream<Uint8Array> => {
  let at = 0
  return new ReadableStream({
    pull(controller) {
      if (at >= bytes.length) return controller.close()
      controller.enqueue(bytes.slice(at, at + size))
      at += size
    },
  })
}

export const bytesOf = async (stream: ReadableStream<Uint8Array>): Promise<Buffer> => {
  const parts: Uint8Array[] = []
  for await (const part of stream) parts.push(part)
  return Buffer.concat(parts)
}
