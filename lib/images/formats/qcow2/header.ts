import type { ImageFile } from '../image-file.ts'
import { checkVirtualSize, type Refuse } from '../refusal.ts'

// Fields and limits: docs/interop/qcow2.txt and block/qcow2.h of QEMU.

export interface Qcow2Header {
  readonly version: number
  readonly clusterBits: number
  readonly clusterSize: number
  readonly virtualSize: number
  /** The level 1 table: the positions of the level 2 tables. */
  readonly l1: { readonly offset: number; readonly entries: number }
  /** The table of the positions of the blocks of reference counts. */
  readonly refcounts: { readonly offset: number; readonly length: number }
  /** True if an entry of a level 2 table has two numbers, the second for the parts of a cluster. */
  readonly hasSubclusters: boolean
  /** Bytes of an entry of a level 2 table. */
  readonly l2EntrySize: number
}

/** The incompatible features of version 3: a program must not read an image with a feature that it does not know. */
const features = { dirty: 1n, corrupt: 2n, dataFile: 4n, compression: 8n, subclusters: 16n }
const knownFeatures = Object.values(features).reduce((sum, bit) => sum | bit, 0n)

const maxL1Size = 32 * 2 ** 20
const maxRefcountTableSize = 8 * 2 ** 20

const checkFeatures = (header: Buffer, headerLength: number, refuse: Refuse): void => {
  const incompatible = header.readBigUInt64BE(72)
  if ((incompatible & features.dataFile) !== 0n) refuse('its data is in another file; flatten it (qemu-img convert)')
  if ((incompatible & features.corrupt) !== 0n) refuse('it is marked as damaged; repair it (qemu-img check -r all)')
  if ((incompatible & features.dirty) !== 0n) refuse('it was not closed; repair it (qemu-img check -r all)')
  if ((incompatible & ~knownFeatures) !== 0n) refuse('it needs a feature that is unknown')
  const compression = headerLength > 104 ? header.readUInt8(104) : 0
  if (compression > 1 || compression > 0 !== ((incompatible & features.compression) !== 0n))
    refuse('its kind of compression is unknown')
}

/** The extensions of the header that tell nothing that a reader needs: names of features, the format of no backing image. */
const harmlessExtensions = new Set([0x6803f857, 0xe2792aca])
const extensionNames = new Map([
  [0x44415441, 'names a file with its data'],
  [0x0537be77, 'is encrypted'],
  [0x23852875, 'has dirty bitmaps; remove them (qemu-img bitmap --remove)'],
])

const checkExtensions = (start: Buffer, headerLength: number, refuse: Refuse): void => {
  for (let at = headerLength; at + 8 <= start.length;) {
    const [type, length] = [start.readUInt32BE(at), start.readUInt32BE(at + 4)]
    if (type === 0) return
    if (!harmlessExtensions.has(type))
      refuse(`it ${extensionNames.get(type) ?? `has the header extension ${type.toString(16)}, which is unknown`}`)
    at += 8 + Math.ceil(length / 8) * 8
    if (at > start.length) refuse('a header extension is longer than the header')
  }
}

/** Reads the header. Throws by `refuse` if the image is not complete in itself, or needs what is unknown. */
export const readQcow2Header = async (file: ImageFile, refuse: Refuse): Promise<Qcow2Header> => {
  const header = Buffer.alloc(112)
  ;(await file.read(0, 112)).copy(header)
  if (file.size < 72) refuse('it ends within its header')
  const version = header.readUInt32BE(4)
  if (version !== 2 && version !== 3) refuse(`it has version ${version}, which is unknown`)
  if (header.readBigUInt64BE(8) !== 0n || header.readUInt32BE(16) !== 0)
    refuse('it builds on another image; flatten it (qemu-img convert)')
  if (header.readUInt32BE(32) !== 0) refuse('it is encrypted')
  if (header.readUInt32BE(60) !== 0) refuse('it has snapshots; flatten it (qemu-img convert)')

  const clusterBits = header.readUInt32BE(20)
  if (clusterBits < 9 || clusterBits > 21) refuse(`it has clusters of 2^${clusterBits} bytes, which is out of range`)
  const clusterSize = 2 ** clusterBits
  const headerLength = version === 2 ? 72 : header.readUInt32BE(100)
  if (version === 3) {
    if (headerLength < 104 || headerLength % 8 !== 0 || headerLength > clusterSize || headerLength > file.size)
      refuse('the length of its header is wrong')
    checkFeatures(header, headerLength, refuse)
    if (header.readUInt32BE(96) > 6) refuse('its reference counts are too wide')
  }
  checkExtensions(await file.read(0, Math.min(clusterSize, file.size)), headerLength, refuse)

  const hasSubclusters = version === 3 && (header.readBigUInt64BE(72) & features.subclusters) !== 0n
  if (hasSubclusters && clusterBits < 14) refuse('its clusters are too small for parts')
  const virtualSize = checkVirtualSize(Number(header.readBigUInt64BE(24)), refuse)
  const l2EntrySize = hasSubclusters ? 16 : 8
  const l1 = { offset: Number(header.readBigUInt64BE(40)), entries: header.readUInt32BE(36) }
  if (l1.entries * 8 > maxL1Size) refuse('its level 1 table is too large')
  if (l1.entries < virtualSize / (clusterSize * (clusterSize / l2EntrySize)))
    refuse('its level 1 table is too short for its disk')
  const refcounts = { offset: Number(header.readBigUInt64BE(48)), length: header.readUInt32BE(56) * clusterSize }
  if (refcounts.length === 0 || refcounts.length > maxRefcountTableSize)
    refuse('the size of its table of reference counts is out of range')
  if (l1.offset % clusterSize !== 0 || refcounts.offset % clusterSize !== 0)
    refuse('one of its tables does not begin with a cluster')
  return { version, clusterBits, clusterSize, virtualSize, l1, refcounts, hasSubclusters, l2EntrySize }
}
