import { checkVirtualSize, type Refuse } from '../refusal.ts'

// Fields: "Virtual Disk Format 5.0" of VMware; what QEMU does with them: block/vmdk.c.

export const sectorSize = 512

export interface VmdkHeader {
  readonly virtualSize: number
  /** Bytes of a grain, the unit in which the disk is stored. */
  readonly grainSize: number
  /** The position and size of the descriptor, in sectors. */
  readonly descriptor: { readonly start: number; readonly length: number }
  /** The sector of the grain directory; undefined if only the footer knows it. */
  readonly directory: number | undefined
  /** The sector of the spare grain directory; undefined without one. */
  readonly spareDirectory: number | undefined
  readonly isCompressed: boolean
  /** True if the number 1 in a grain table is a grain of zeros. */
  readonly hasZeroGrains: boolean
}

const flags = { newlines: 1, spareDirectory: 2, zeroGrains: 4, compressed: 0x10000, markers: 0x20000 }
const knownFlags = Object.values(flags).reduce((sum, bit) => sum | bit, 0)

/** Entries of a grain table, which the format fixes. */
export const tableEntries = 512
const atEnd = 0xffff_ffff_ffff_ffffn

/** Reads a header or a footer of 512 bytes. Throws by `refuse` what is wrong with it. */
export const readVmdkHeader = (bytes: Buffer, fileSize: number, refuse: Refuse): VmdkHeader => {
  if (bytes.length < sectorSize || bytes.toString('latin1', 0, 4) !== 'KDMV') refuse('its header is damaged')
  const readSectors = (at: number): number => Number(bytes.readBigUInt64LE(at))
  const version = bytes.readUInt32LE(4)
  if (version < 1 || version > 3) refuse(`it has version ${version}, which is unknown`)
  const set = bytes.readUInt32LE(8)
  if ((set & ~knownFlags) !== 0) refuse('it needs a feature that is unknown')
  if (bytes.toString('latin1', 73, 77) !== '\n \r\n') refuse('a transfer as text damaged it')
  const isCompressed = (set & flags.compressed) !== 0
  if (isCompressed !== ((set & flags.markers) !== 0) || bytes.readUInt16LE(77) !== (isCompressed ? 1 : 0))
    refuse('its kind of compression is unknown')
  // With a capacity of 0, QEMU takes the descriptor for a list of files and opens them.
  if (readSectors(12) === 0) refuse('it has no disk, only a descriptor, which can name other files')
  const virtualSize = checkVirtualSize(readSectors(12) * sectorSize, refuse)
  const grain = readSectors(20)
  if (grain < 8 || grain > 2048 || !Number.isInteger(Math.log2(grain)))
    refuse(`its grains have ${grain} sectors, which is out of range`)
  if (bytes.readUInt32LE(44) !== tableEntries) refuse(`its grain tables do not have ${tableEntries} entries`)
  if (readSectors(64) * sectorSize > fileSize) refuse('it ends before its first grain, so it was cut off')
  return {
    virtualSize,
    grainSize: grain * sectorSize,
    descriptor: { start: readSectors(28), length: readSectors(36) },
    directory: bytes.readBigUInt64LE(56) === atEnd ? undefined : readSectors(56),
    spareDirectory: (set & flags.spareDirectory) === 0 ? undefined : readSectors(48),
    isCompressed,
    hasZeroGrains: (set & flags.zeroGrains) !== 0,
  }
}
