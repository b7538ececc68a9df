const kilobyte = 1024
export const megabyte = 1024 * kilobyte
export const diskSize = 3 * megabyte

/** The positions of the parts of the image below. */
export const at = {
  headers: [64 * kilobyte, 128 * kilobyte],
  regions: 192 * kilobyte,
  log: megabyte,
  table: 2 * megabyte,
  metadata: 3 * megabyte,
  items: 3 * megabyte + 64 * kilobyte,
  blocks: 4 * megabyte,
} as const

const checksum = (bytes: Buffer): number => {
  let sum = 0xffffffff
  for (const byte of bytes) {
    sum ^= byte
    for (let bit = 0; bit < 8; bit++) sum = (sum >>> 1) ^ (0x82f63b78 & -(sum & 1))
  }
  return ~sum >>> 0
}

/** Writes the checksums of the headers and of the region tables anew. */
export const seal = (bytes: Buffer): void => {
  const parts: readonly (readonly [start: number, length: number])[] = [
    [at.headers[0], 4 * kilobyte],
    [at.headers[1], 4 * kilobyte],
    [at.regions, 64 * kilobyte],
    [at.regions + 64 * kilobyte, 64 * kilobyte],
  ]
  for (const [start, length] of parts) {
    bytes.writeUInt32LE(0, start + 4)
    bytes.writeUInt32LE(checksum(bytes.subarray(start, start + length)), start + 4)
  }
}

export const writeGuid = (bytes: Buffer, position: number, guid: string): void => {
  const [first, second, third, ...rest] = guid.split('-')
  bytes.writeUInt32LE(parseInt(first!, 16), position)
  bytes.writeUInt16LE(parseInt(second!, 16), position + 4)
  bytes.writeUInt16LE(parseInt(third!, 16), position + 6)
  bytes.write(rest.join(''), position + 8, 'hex')
}

const regions = [
  ['2DC27766-F623-4200-9D64-115E9BFD4A08', at.table],
  ['8B7CA206-4790-4B9A-B8FE-575F050F886E', at.metadata],
] as const

const u32 = (...values: readonly number[]): Buffer => Buffer.from(Uint32Array.from(values).buffer)
const items = [
  ['CAA16737-FA36-4D43-B3B6-33F0AA44E76B', u32(megabyte, 0)],
  ['2FA54224-CD1B-4876-B211-5DBED83BF4B8', u32(diskSize, 0)],
  ['8141BF1D-A96F-4709-BA47-F233A8FAAB5F', u32(512)],
  ['CDA348C7-445D-4471-9CC9-E9885251C556', u32(4096)],
  ['BECA12AB-B2E6-4523-93EF-C309E000C746', Buffer.alloc(16, 9)],
] as const
export const itemEntry = (index: number): number => at.metadata + 32 + 32 * index
export const item = (index: number): number => at.items + 16 * index

export const tableEntry = (state: number, position: number): bigint =>
  BigInt(state) | (BigInt(position / megabyte) << 20n)

/** What a guest sees on the disk below. */
export const vhdxContent = (): Buffer => {
  const disk = Buffer.alloc(diskSize)
  disk.fill('first block ', 0, megabyte)
  disk.fill('third block ', 2 * megabyte, 3 * megabyte)
  return disk
}

/**
 * A dynamic VHDX image, field by field: a disk of 3 MB whose blocks 0 and 2 of 1 MB are data. Knows nothing of the code that it
 * tests.
 */
export const vhdxImage = (): Buffer => {
  const bytes = Buffer.alloc(at.blocks + 2 * megabyte)
  bytes.write('vhdxfile', 'latin1')
  for (const [index, header] of at.headers.entries()) {
    bytes.write('head', header, 'latin1')
    bytes.writeBigUInt64LE(BigInt(index + 1), header + 8)
    bytes.fill(7, header + 16, header + 48)
    bytes.writeUInt16LE(1, header + 66)
    bytes.writeUInt32LE(megabyte, header + 68)
    bytes.writeBigUInt64LE(BigInt(at.log), header + 72)
  }
  for (const start of [at.regions, at.regions + 64 * kilobyte]) {
    bytes.write('regi', start, 'latin1')
    bytes.writeUInt32LE(regions.length, start + 8)
    for (const [index, [guid, position]] of regions.entries()) {
      const entry = start + 16 + 32 * index
      writeGuid(bytes, entry, guid)
      bytes.writeBigUInt64LE(BigInt(position), entry + 16)
      bytes.writeUInt32LE(megabyte, entry + 24)
      bytes.writeUInt32LE(1, entry + 28)
    }
  }
  bytes.write('metadata', at.metadata, 'latin1')
  bytes.writeUInt16LE(items.length, at.metadata + 10)
  for (const [index, [guid, value]] of items.entries()) {
    const entry = itemEntry(index)
    writeGuid(bytes, entry, guid)
    bytes.writeUInt32LE(item(index) - at.metadata, entry + 16)
    bytes.writeUInt32LE(value.length, entry + 20)
    bytes.writeUInt32LE(index === 0 ? 4 : 6, entry + 24)
    value.copy(bytes, item(index))
  }
  bytes.writeBigUInt64LE(tableEntry(6, at.blocks), at.table)
  bytes.writeBigUInt64LE(tableEntry(6, at.blocks + megabyte), at.table + 16)
  const content = vhdxContent()
  content.copy(bytes, at.blocks, 0, megabyte)
  content.copy(bytes, at.blocks + megabyte, 2 * megabyte)
  seal(bytes)
  return bytes
}
