import type { FileMap } from '../file-map.ts'
import type { Refuse } from '../refusal.ts'
import type { Qcow2Header } from './header.ts'

/** Halves of a 64-bit entry are used, because this runs for each cluster and numbers of 53 bits are faster than bigints. */
const half = 2 ** 32

/** Reserved bits of the upper half of an entry of a level 1 table or a plain entry of a level 2 table: 56 to 61. */
const reservedUpper = 0x3f000000
const compressedFlag = 0x40000000

/** Returns the position of a cluster in an entry of a table, bits 9 to 55. */
export const readClusterOffset = (upper: number, lower: number): number =>
  (upper & 0x00ffffff) * half + ((lower & 0xfffffe00) >>> 0)

/** Refuses an entry with reserved bits: those of its upper half, and those that the caller has picked of its lower half. */
export const checkReserved = (upper: number, reservedLower: number, refuse: Refuse): void => {
  if ((upper & reservedUpper) !== 0 || reservedLower !== 0) refuse('an entry of its tables has bits that must be zero')
}

interface ClaimOptions {
  readonly header: Qcow2Header
  readonly map: FileMap
  readonly fileSize: number
  readonly refuse: Refuse
}

/** Creates a function that claims the cluster of an entry of a level 2 table, and returns whether the cluster contains data. */
export const createClaimCluster = ({ header, map, fileSize, refuse }: ClaimOptions) => {
  const { version, clusterBits, clusterSize, hasSubclusters } = header
  /** In the upper half, the bits of the position of compressed data; the number of sectors is above them. */
  const offsetBits = 62 - (clusterBits - 8) - 32
  const alignedFileSize = Math.ceil(fileSize / 512) * 512

  const claimCompressed = (upper: number, lower: number): void => {
    const offset = (upper & (2 ** offsetBits - 1)) * half + lower
    const sectors = ((upper & 0x3fffffff) >>> offsetBits) + 1
    const length = sectors * 512 - (offset % 512)
    if (offset + length > alignedFileSize) refuse('compressed data lies outside the file')
    map.claimShared('compressed data', offset, Math.max(1, Math.min(length, fileSize - offset)))
  }
  const checkSubclusters = (offset: number, allocated: number, zeroed: number): void => {
    if ((allocated & zeroed) !== 0) refuse('a part of a cluster is both data and zeros')
    if (offset === 0 && allocated !== 0) refuse('a part of a cluster has data without a position')
  }
  return (table: Buffer, at: number): boolean => {
    const [upper, lower] = [table.readUInt32BE(at), table.readUInt32BE(at + 4)]
    const allocated = hasSubclusters ? table.readUInt32BE(at + 12) : 0
    const zeroed = hasSubclusters ? table.readUInt32BE(at + 8) : 0
    if ((upper & compressedFlag) !== 0) {
      if (allocated !== 0 || zeroed !== 0) refuse('a compressed cluster has parts')
      claimCompressed(upper, lower)
      return true
    }
    const hasZeroFlag = version === 3 && !hasSubclusters && lower % 2 === 1
    checkReserved(upper, (lower & 0x1ff) - (hasZeroFlag ? 1 : 0), refuse)
    const offset = readClusterOffset(upper, lower)
    if (hasSubclusters) checkSubclusters(offset, allocated, zeroed)
    if (offset === 0) return false
    if (offset % clusterSize !== 0) refuse('a cluster is misaligned')
    // The last cluster of a file can be shorter. What is missing reads as zeros.
    map.claim('a cluster', offset, Math.max(1, Math.min(clusterSize, fileSize - offset)))
    return !hasZeroFlag
  }
}
