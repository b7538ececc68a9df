import { open } from 'node:fs/promises'

/**
 * The disk of a linked clone is an overlay: a file that contains the sectors that its guest has written, at their places after
 * the header and a map of these sectors. All other sectors are those of a base image, which nobody writes. Only the definition of
 * the machine says that a disk is an overlay, and on which base: a guest can write such a header to any disk.
 */
const signature = 'vmhost embedded overlay 1\n'

/** Bytes of a sector, which is the unit of the map. v86 writes whole sectors. */
export const sectorSize = 512
/** The header and the map begin and end at multiples of it, so that sectors share no block of the file system with them. */
const alignment = 4096

/** Where the parts of an overlay are, in bytes. */
export interface OverlayLayout {
  /** One bit for each sector, the lowest bit of a byte first: whether the overlay contains the sector. */
  readonly map: { readonly offset: number; readonly size: number }
  /** The place of the first sector. */
  readonly content: number
  /** The whole file. */
  readonly size: number
}

/** Returns the layout of the overlay of a disk of `size` bytes. */
export const layOutOverlay = (size: number): OverlayLayout => {
  const mapSize = Math.ceil(size / sectorSize / 8)
  const content = alignment + Math.ceil(mapSize / alignment) * alignment
  return { map: { offset: alignment, size: mapSize }, content, size: content + size }
}

/** Creates the overlay of a disk of `size` bytes without written sectors. It needs one block of the host's disk. */
export const createOverlay = async (path: string, size: number): Promise<void> => {
  await using file = await open(path, 'wx', 0o600)
  await file.write(signature)
  await file.truncate(layOutOverlay(size).size)
}

/** True if a file of `size` bytes that begins with `start` can be the overlay of a disk of `diskSize` bytes. */
export const isOverlay = (start: Buffer, size: number, diskSize: number): boolean =>
  start.toString('latin1').startsWith(signature) && size === layOutOverlay(diskSize).size

/** Bytes that `isOverlay` needs of the start of a file. */
export const signatureSize = signature.length

const isWritten = (map: Uint8Array, sector: number): boolean => (map[sector >>> 3]! & (1 << (sector & 7))) !== 0

/** Marks the sectors `from` to `to`, without `to`, as written. Returns false if all of them were before. */
export const markWritten = (map: Uint8Array, from: number, to: number): boolean => {
  let isChanged = false
  for (let sector = from; sector < to; sector += 1) {
    if (isWritten(map, sector)) continue
    map[sector >>> 3]! |= 1 << (sector & 7)
    isChanged = true
  }
  return isChanged
}

/** True if any of the sectors `from` to `to`, without `to`, was written. */
export const isAnyWritten = (map: Uint8Array, from: number, to: number): boolean => {
  for (let sector = from; sector < to; sector += 1) if (isWritten(map, sector)) return true
  return false
}

/** Copies the written sectors of `content`, which begins with the sector `first`, over those of the base in `target`. */
export const applyWritten = (target: Uint8Array, content: Uint8Array, map: Uint8Array, first: number): void => {
  for (let at = 0; at < target.length; at += sectorSize)
    if (isWritten(map, first + at / sectorSize)) target.set(content.subarray(at, at + sectorSize), at)
}
