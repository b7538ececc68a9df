import { type DiskContent, targetClusterSize } from '../facts.ts'
import { createFileMap } from '../file-map.ts'
import type { ImageFile } from '../image-file.ts'
import { createRefuse } from '../refusal.ts'
import { checkReserved, createClaimCluster, readClusterOffset } from './clusters.ts'
import { readQcow2Header } from './header.ts'

const refuse = createRefuse('qcow2')

/**
 * Inspects a qcow2 image of version 2 or 3. It must have no backing image, external data, encryption, snapshots or bitmaps, and all
 * that its tables name must be inside the file and be named once. Throws `invalid` with what is wrong.
 */
export const inspectQcow2 = async (file: ImageFile): Promise<DiskContent> => {
  const header = await readQcow2Header(file, refuse)
  const { clusterSize, virtualSize, l1, refcounts, l2EntrySize } = header
  const map = createFileMap(file, clusterSize, refuse)
  map.claim('its header', 0, Math.min(clusterSize, file.size))

  const checkTableEntry = (upper: number, lower: number): number => {
    checkReserved(upper, lower & 0x1ff, refuse)
    const offset = readClusterOffset(upper, lower)
    if (offset % clusterSize !== 0) refuse('one of its tables does not begin with a cluster')
    return offset
  }
  for await (const block of map.readTable('its table of reference counts', refcounts.offset, refcounts.length))
    for (let at = 0; at < block.length; at += 8) {
      const offset = checkTableEntry(block.readUInt32BE(at), block.readUInt32BE(at + 4))
      if (offset > 0) map.claim('a block of reference counts', offset, clusterSize)
    }

  const claimCluster = createClaimCluster({ header, map, fileSize: file.size, refuse })
  let clusters = 0
  for await (const block of map.readTable('its level 1 table', l1.offset, l1.entries * 8))
    for (let at = 0; at < block.length; at += 8) {
      const offset = checkTableEntry(block.readUInt32BE(at), block.readUInt32BE(at + 4))
      if (offset === 0) continue
      for await (const table of map.readTable('a level 2 table', offset, clusterSize))
        for (let entry = 0; entry < table.length; entry += l2EntrySize) if (claimCluster(table, entry)) clusters++
    }
  const dataSize = Math.min(virtualSize, clusters * Math.max(clusterSize, targetClusterSize))
  return { format: 'qcow2', virtualSize, dataSize }
}
