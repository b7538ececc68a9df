import { type DiskContent, targetClusterSize } from '../facts.ts'
import { createFileMap, type FileMap } from '../file-map.ts'
import type { ImageFile } from '../image-file.ts'
import { createRefuse } from '../refusal.ts'
import { checkVmdkDescriptor } from './descriptor.ts'
import { readVmdkFooter } from './footer.ts'
import { readVmdkHeader, sectorSize, tableEntries, type VmdkHeader } from './header.ts'

const refuse = createRefuse('vmdk')

/** Claims the grains of a disk, and returns how many contain data. */
const claimGrains = async (map: FileMap, header: VmdkHeader, directory: number): Promise<number> => {
  const { virtualSize, grainSize, isCompressed, hasZeroGrains } = header
  const tables = Math.ceil(virtualSize / (tableEntries * grainSize))
  let grains = 0
  const claimGrain = (sector: number): void => {
    if (sector === 0 || (sector === 1 && hasZeroGrains)) return
    // The length of a compressed grain is in its own first sector. No two grains may begin with the same one.
    map.claim('a grain', sector * sectorSize, isCompressed ? sectorSize : grainSize)
    grains++
  }
  for await (const block of map.readTable('its grain directory', directory * sectorSize, tables * 4))
    for (let at = 0; at < block.length; at += 4) {
      const table = block.readUInt32LE(at)
      if (table === 0) continue
      for await (const entries of map.readTable('a grain table', table * sectorSize, tableEntries * 4))
        for (let entry = 0; entry < entries.length; entry += 4) claimGrain(entries.readUInt32LE(entry))
    }
  return grains
}

/**
 * Inspects a VMDK image: `monolithicSparse` or `streamOptimized`, complete in its one file. Images whose data is in other files, or
 * which build on another one, are refused. Throws `invalid` with what is wrong.
 */
export const inspectVmdk = async (file: ImageFile): Promise<DiskContent> => {
  const first = readVmdkHeader(await file.read(0, sectorSize), file.size, refuse)
  await checkVmdkDescriptor(file, first, refuse)
  const header = first.directory === undefined ? await readVmdkFooter(file, first, refuse) : first
  const directory = header.directory ?? refuse('its footer does not say where its grains are')
  const map = createFileMap(file, sectorSize, refuse)
  map.claim('its header', 0, sectorSize)
  map.claim('its descriptor', sectorSize, first.descriptor.length * sectorSize)

  const { virtualSize, grainSize, spareDirectory } = header
  const grains = await claimGrains(map, header, directory)
  // Readers load the spare directory too, but use its tables only when they write.
  const tables = Math.ceil(virtualSize / (tableEntries * grainSize))
  if (spareDirectory !== undefined) map.claim('its spare grain directory', spareDirectory * sectorSize, tables * 4)
  return {
    format: 'vmdk',
    virtualSize,
    dataSize: Math.min(virtualSize, grains * Math.max(grainSize, targetClusterSize)),
  }
}
