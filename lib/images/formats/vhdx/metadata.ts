import type { ImageFile } from '../image-file.ts'
import { checkVirtualSize, type Refuse } from '../refusal.ts'
import { readGuid } from './guid.ts'
import { megabyte } from './headers.ts'

// Items: [MS-VHDX] 2.6.

export interface VhdxMetadata {
  readonly virtualSize: number
  /** Bytes of a block, the unit in which the disk is stored. */
  readonly blockSize: number
}

const itemNames: Readonly<Record<string, string>> = {
  'caa16737-fa36-4d43-b3b6-33f0aa44e76b': 'parameters',
  '2fa54224-cd1b-4876-b211-5dbed83bf4b8': 'size',
  'beca12ab-b2e6-4523-93ef-c309e000c746': 'identifier',
  '8141bf1d-a96f-4709-ba47-f233a8faab5f': 'sector',
  'cda348c7-445d-4471-9cc9-e9885251c556': 'physical sector',
}
const parentLocator = 'a8d35f2d-b30b-454d-abf7-d3d84834ab0c'

const tableSize = 65_536
const maxItems = 2047
/** The items that are read are at most 16 bytes. */
const maxItemSize = 16

/** Reads the items of the metadata region by name. */
const readItems = async (
  file: ImageFile,
  { offset, length }: { offset: number; length: number },
  refuse: Refuse,
): Promise<ReadonlyMap<string, Buffer>> => {
  const table = await file.read(offset, tableSize)
  if (table.length < tableSize || table.toString('latin1', 0, 8) !== 'metadata') refuse('its metadata is damaged')
  const count = table.readUInt16LE(10)
  if (count > maxItems) refuse('its metadata has too many items')
  const items = new Map<string, Buffer>()
  for (let index = 0; index < count; index++) {
    const at = 32 + 32 * index
    const id = readGuid(table, at)
    const name = itemNames[id]
    if (id === parentLocator) refuse('it builds on another image')
    if (name === undefined) return refuse('its metadata has an item of an unknown kind')
    if (items.has(name)) refuse(`its metadata says the ${name} twice`)
    const [itemAt, itemLength] = [table.readUInt32LE(at + 16), table.readUInt32LE(at + 20)]
    if (itemAt < tableSize || itemAt + itemLength > length || itemLength > maxItemSize)
      refuse('an item of its metadata has a wrong position or length')
    items.set(name, await file.read(offset + itemAt, itemLength))
  }
  return items
}

/** Reads the metadata region. Throws by `refuse` for a disk that builds on another one, or that no machine here can have. */
export const readMetadata = async (
  file: ImageFile,
  region: { readonly offset: number; readonly length: number },
  refuse: Refuse,
): Promise<VhdxMetadata> => {
  const items = await readItems(file, region, refuse)
  const getItem = (name: string, length: number): Buffer => {
    const item = items.get(name)
    return item?.length === length ? item : refuse(`its metadata does not say the ${name}`)
  }
  const [parameters, sector] = [getItem('parameters', 8), getItem('sector', 4).readUInt32LE(0)]
  const [blockSize, flags] = [parameters.readUInt32LE(0), parameters.readUInt32LE(4)]
  if ((flags & 2) !== 0) refuse('it builds on another image')
  if (flags > 1) refuse('it needs a feature that is unknown')
  if (blockSize < megabyte || blockSize > 256 * megabyte || !Number.isInteger(Math.log2(blockSize)))
    refuse(`its blocks have ${blockSize} bytes, which is out of range`)
  if (sector !== 512) refuse(`its disk has sectors of ${sector} bytes, and disks here have sectors of 512`)
  const virtualSize = checkVirtualSize(Number(getItem('size', 8).readBigUInt64LE(0)), refuse)
  return { virtualSize, blockSize }
}
