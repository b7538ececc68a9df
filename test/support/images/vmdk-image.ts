import { deflateSync } from 'node:zlib'

const sector = 512
const diskSectors = 2048
/** Sectors of a grain. */
const grain = 8
/** The sectors of the parts of the sparse image below. */
export const sectors = { descriptor: 1, directory: 21, table: 22, first: 32, second: 40, end: 48 }
export const descriptorSectors = 20

/** What a guest sees on the disks below. */
export const vmdkContent = (): Buffer => {
  const disk = Buffer.alloc(diskSectors * sector)
  disk.fill('first grain ', 0, grain * sector)
  disk.fill('second grain ', 3 * grain * sector, 4 * grain * sector)
  return disk
}

export const descriptor = (type: string, extent = `RW ${diskSectors} SPARSE "disk.vmdk"`): string =>
  `# Disk DescriptorFile
version=1
CID=4c951920
parentCID=ffffffff
createType="${type}"

# Extent description
${extent}

# The Disk Data Base
#DDB

ddb.adapterType = "ide"
ddb.geometry.sectors = "63"
`

/** Writes a header; a directory of -1 is in the footer. */
const writeHeader = (bytes: Buffer, at: number, { flags = 1, version = 1, directory = 0, compression = 0 }): void => {
  bytes.write('KDMV', at, 'latin1')
  bytes.writeUInt32LE(version, at + 4)
  bytes.writeUInt32LE(flags, at + 8)
  bytes.writeBigUInt64LE(BigInt(diskSectors), at + 12)
  bytes.writeBigUInt64LE(BigInt(grain), at + 20)
  bytes.writeBigUInt64LE(1n, at + 28)
  bytes.writeBigUInt64LE(BigInt(descriptorSectors), at + 36)
  bytes.writeUInt32LE(512, at + 44)
  bytes.writeBigInt64LE(BigInt(directory), at + 56)
  bytes.writeBigUInt64LE(BigInt(sectors.directory), at + 64)
  bytes.write('\n \r\n', at + 73, 'latin1')
  bytes.writeUInt16LE(compression, at + 77)
}

/**
 * A VMDK image in one file (monolithicSparse), field by field: a disk of 1 MB whose grains 0 and 3 of 4 KB are data. Knows
 * nothing of the code that it tests.
 */
export const sparseVmdk = (text = descriptor('monolithicSparse')): Buffer => {
  const bytes = Buffer.alloc(sectors.end * sector)
  writeHeader(bytes, 0, { directory: sectors.directory })
  bytes.write(text, sector)
  bytes.writeUInt32LE(sectors.table, sectors.directory * sector)
  bytes.writeUInt32LE(sectors.first, sectors.table * sector)
  bytes.writeUInt32LE(sectors.second, sectors.table * sector + 3 * 4)
  const content = vmdkContent()
  content.copy(bytes, sectors.first * sector, 0, grain * sector)
  content.copy(bytes, sectors.second * sector, 3 * grain * sector, 4 * grain * sector)
  return bytes
}

const padded = (...parts: readonly Uint8Array[]): Buffer => {
  const bytes = Buffer.concat(parts)
  return Buffer.concat([bytes, Buffer.alloc((sector - (bytes.length % sector)) % sector)])
}
const numbers = (first: number, second: number, third?: number): Buffer => {
  const bytes = Buffer.alloc(third === undefined ? 12 : 16)
  bytes.writeBigUInt64LE(BigInt(first))
  bytes.writeUInt32LE(second, 8)
  if (third !== undefined) bytes.writeUInt32LE(third, 12)
  return bytes
}
const table = (entries: Readonly<Record<number, number>>, length: number): Buffer => {
  const bytes = Buffer.alloc(length)
  for (const [index, value] of Object.entries(entries)) bytes.writeUInt32LE(value, Number(index) * 4)
  return bytes
}

/** The same disk as a stream (streamOptimized): compressed grains behind markers, and the directory and a footer at the end. */
export const streamVmdk = (text = descriptor('streamOptimized')): Buffer => {
  const fields = { flags: 0x30001, version: 3, compression: 1 }
  const start = Buffer.alloc((1 + descriptorSectors) * sector)
  writeHeader(start, 0, { ...fields, directory: -1 })
  start.write(text, sector)
  const parts: Buffer[] = [start]
  const add = (bytes: Buffer): number => {
    const at = parts.reduce((sum, one) => sum + one.length, 0) / sector
    parts.push(bytes)
    return at
  }
  const content = vmdkContent()
  const [first, second] = [0, 3].map(index => {
    const data = deflateSync(content.subarray(index * grain * sector, (index + 1) * grain * sector))
    return add(padded(numbers(index * grain, data.length), data))
  })
  add(padded(numbers(4, 0, 1)))
  const grainTable = add(table({ 0: first!, 3: second! }, 2048))
  add(padded(numbers(1, 0, 2)))
  const directory = add(padded(table({ 0: grainTable }, 4)))
  add(padded(numbers(1, 0, 3)))
  const footer = Buffer.alloc(sector)
  writeHeader(footer, 0, { ...fields, directory })
  add(footer)
  add(Buffer.alloc(sector))
  return Buffer.concat(parts)
}
