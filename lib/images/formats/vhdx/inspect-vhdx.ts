import type { DiskContent } from '../facts.ts'
import { createFileMap, type FileMap } from '../file-map.ts'
import type { ImageFile } from '../image-file.ts'
import { createRefuse } from '../refusal.ts'
import { checkHeaders, megabyte, readRegions, type Regions } from './headers.ts'
import { readMetadata, type VhdxMetadata } from './metadata.ts'

const refuse = createRefuse('vhdx')

/** States of a block, bits 0 to 2 of its entry: not present, undefined, zeros, unmapped. All read as zeros. */
const lastEmptyState = 3
const present = 6

/** Claims the blocks of a disk, and returns the number of bytes that contain data. */
const claimBlocks = async (map: FileMap, region: Regions['table'], metadata: VhdxMetadata): Promise<number> => {
  const { virtualSize, blockSize } = metadata
  const blocks = Math.ceil(virtualSize / blockSize)
  // After as many blocks as a bitmap of 1 MB describes, there is an entry for that bitmap. Only disks with a parent use them.
  const blocksPerBitmap = (2 ** 23 * 512) / blockSize
  const entries = blocks + Math.floor((blocks - 1) / blocksPerBitmap)
  if (entries * 8 > region.length) refuse('its table is too short for its disk')
  let index = 0
  let dataSize = 0
  for await (const table of map.readTable('its table', region.offset, entries * 8))
    for (let at = 0; at < table.length; at += 8, index++) {
      const lower = table.readUInt32LE(at)
      const state = lower & 7
      const isBitmap = index % (blocksPerBitmap + 1) === blocksPerBitmap
      if ((lower & 0x000ffff8) !== 0) refuse('an entry of its table has bits that must be zero')
      if (state <= (isBitmap ? 0 : lastEmptyState)) continue
      if (isBitmap || state !== present) refuse('a block is in a state that only a disk with a parent has')
      const block = index - Math.floor(index / (blocksPerBitmap + 1))
      // The last block need not be stored as a whole.
      const length = Math.min(blockSize, virtualSize - block * blockSize)
      map.claim('a block', Math.floor(Number(table.readBigUInt64LE(at)) / megabyte) * megabyte, length)
      dataSize += length
    }
  return dataSize
}

/**
 * Inspects a VHDX image, dynamic or fixed, without a parent and with an empty log. Throws `invalid` with what is wrong.
 */
export const inspectVhdx = async (file: ImageFile): Promise<DiskContent> => {
  const map = createFileMap(file, megabyte, refuse)
  map.claim('its header', 0, Math.min(megabyte, file.size))
  await checkHeaders(file, map, refuse)
  const regions = await readRegions(file, refuse)
  map.claim('its metadata', regions.metadata.offset, regions.metadata.length)
  const metadata = await readMetadata(file, regions.metadata, refuse)
  const dataSize = await claimBlocks(map, regions.table, metadata)
  return { format: 'vhdx', virtualSize: metadata.virtualSize, dataSize }
}
