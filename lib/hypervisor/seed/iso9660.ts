/** Bytes of a sector of a CD-ROM. */
const sectorSize = 2048
/** The first 16 sectors are not used (ECMA-119, 6.2.1). */
const sectors = { primary: 16, joliet: 17, end: 18, tables: 19, primaryRoot: 23, jolietRoot: 24, files: 25 } as const

export interface IsoFile {
  /** At most 64 characters of the Basic Multilingual Plane. */
  readonly name: string
  readonly data: Uint8Array
}

interface PlacedFile extends IsoFile {
  readonly sector: number
}

/** One of the two sets of names on the image. */
interface NameSet {
  readonly encode: (name: string) => Buffer
  readonly rootSector: number
  /** The sector of the path table with little-endian numbers; the other one follows. */
  readonly tableSector: number
}

const encodeUtf16 = (text: string): Buffer => Buffer.from(text, 'utf16le').swap16()

const countSectors = ({ data }: IsoFile): number => Math.max(1, Math.ceil(data.length / sectorSize))

/** Writes a number in both byte orders (ECMA-119, 7.3.3 and 7.2.3). */
const writeBoth32 = (to: Buffer, value: number, at: number): void => {
  to.writeUInt32LE(value, at)
  to.writeUInt32BE(value, at + 4)
}
const writeBoth16 = (to: Buffer, value: number, at: number): void => {
  to.writeUInt16LE(value, at)
  to.writeUInt16BE(value, at + 2)
}

/** Builds a directory record (ECMA-119, 9.1). Its date is 1970, so that the same files make the same image. */
const buildRecord = (name: Buffer, sector: number, size: number, isFolder: boolean): Buffer => {
  const record = Buffer.alloc((33 + name.length + 1) & ~1)
  record[0] = record.length
  writeBoth32(record, sector, 2)
  writeBoth32(record, size, 10)
  record.set([70, 1, 1], 18)
  record[25] = isFolder ? 2 : 0
  writeBoth16(record, 1, 28)
  record[32] = name.length
  name.copy(record, 33)
  return record
}

const buildRoot = (files: readonly PlacedFile[], { encode, rootSector }: NameSet): Buffer => {
  const itself = (name: number): Buffer => buildRecord(Buffer.of(name), rootSector, sectorSize, true)
  const records = files.map(({ name, data, sector }) => buildRecord(encode(name), sector, data.length, false))
  const all = Buffer.concat([itself(0), itself(1), ...records])
  if (all.length > sectorSize) throw new RangeError('the names of the files do not fit into one sector')
  return all
}

/** Builds a path table with the root folder as its only one (ECMA-119, 9.4). */
const buildPathTable = ({ rootSector }: NameSet, isBigEndian: boolean): Buffer => {
  const table = Buffer.alloc(10)
  table[0] = 1
  if (isBigEndian) table.writeUInt32BE(rootSector, 2)
  else table.writeUInt32LE(rootSector, 2)
  table[isBigEndian ? 7 : 6] = 1
  return table
}

/** Builds the descriptor of a volume: type 1 with the short names, type 2 with those of Joliet (ECMA-119, 8.4 and 8.5). */
const buildDescriptor = (type: 1 | 2, label: string, totalSectors: number, names: NameSet): Buffer => {
  const isJoliet = type === 2
  const encode = (text: string): Buffer => (isJoliet ? encodeUtf16(text) : Buffer.from(text, 'latin1'))
  const descriptor = Buffer.alloc(sectorSize)
  const writeText = (text: string, at: number, length: number): void => {
    encode(text.padEnd(isJoliet ? length / 2 : length)).copy(descriptor, at, 0, length)
  }
  descriptor[0] = type
  descriptor.write('CD001\x01', 1, 'latin1')
  writeText('', 8, 32)
  writeText(label, 40, 32)
  writeBoth32(descriptor, totalSectors, 80)
  // UCS-2 level 3: the mark of Joliet.
  if (isJoliet) descriptor.write('%/E', 88, 'latin1')
  for (const at of [120, 124]) writeBoth16(descriptor, 1, at)
  writeBoth16(descriptor, sectorSize, 128)
  writeBoth32(descriptor, 10, 132)
  descriptor.writeUInt32LE(names.tableSector, 140)
  descriptor.writeUInt32BE(names.tableSector + 1, 148)
  buildRecord(Buffer.of(0), names.rootSector, sectorSize, true).copy(descriptor, 156)
  // Who made the volume is left blank.
  for (const at of [190, 318, 446, 574]) writeText('', at, 128)
  for (const at of [702, 739, 776]) writeText('', at, 36)
  // No dates: digits of zero and a time zone of zero.
  for (const at of [813, 830, 847, 864]) descriptor.fill('0', at, at + 16)
  descriptor[881] = 1
  return descriptor
}

/**
 * Builds a CD-ROM image (ISO 9660, ECMA-119) of files in its root folder. Their names are those of Joliet, which Linux, BSD and
 * Windows read; the names of plain ISO 9660 are `FILE0` and so on. Equal files make equal images.
 */
export const buildIso = (label: string, files: readonly IsoFile[]): Buffer => {
  let nextSector: number = sectors.files
  const placed = files
    // Names are sorted (ECMA-119, 9.3).
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .map(file => {
      const sector = nextSector
      nextSector += countSectors(file)
      return { ...file, sector }
    })
  const shortNames = new Map(placed.map(({ name }, at) => [name, `FILE${at}.;1`]))
  const primary: NameSet = {
    encode: name => Buffer.from(shortNames.get(name) ?? ''),
    rootSector: sectors.primaryRoot,
    tableSector: sectors.tables,
  }
  const joliet: NameSet = {
    encode: encodeUtf16,
    rootSector: sectors.jolietRoot,
    tableSector: sectors.tables + 2,
  }

  const image = Buffer.alloc(nextSector * sectorSize)
  const put = (sector: number, data: Uint8Array): void => image.set(data, sector * sectorSize)
  put(sectors.primary, buildDescriptor(1, label, nextSector, primary))
  put(sectors.joliet, buildDescriptor(2, label, nextSector, joliet))
  put(sectors.end, Buffer.from('\xffCD001\x01', 'latin1'))
  for (const names of [primary, joliet]) {
    put(names.tableSector, buildPathTable(names, false))
    put(names.tableSector + 1, buildPathTable(names, true))
    put(names.rootSector, buildRoot(placed, names))
  }
  for (const { sector, data } of placed) put(sector, data)
  return image
}
