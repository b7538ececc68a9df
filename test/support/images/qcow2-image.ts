import { deflateRawSync } from 'node:zlib'

/** Bytes of a cluster of the image below, and the bits of that. */
export const cluster = 4096
const clusterBits = 12

/** The number of the cluster of each part of the file. */
export const part = { header: 0, refcountTable: 1, refcountBlock: 2, l1: 3, l2: 4, first: 5, second: 6, compressed: 7 }
const parts = 8
export const diskSize = 1 << 20

/** Position of the entry of a cluster of the guest in the level 2 table. */
export const l2Entry = (index: number): number => part.l2 * cluster + index * 8

/** Flags of an entry. */
export const copied = 1n << 63n
const compressedFlag = 1n << 62n

/** The entry for compressed data of so many sectors, more than one. */
export const compressedEntry = (at: number, moreSectors = 0): bigint =>
  compressedFlag | (BigInt(moreSectors) << BigInt(62 - (clusterBits - 8))) | BigInt(at)

const pattern = (seed: number): Buffer => Buffer.from(Array.from({ length: cluster }, (_, at) => (at * seed) % 251))

/** What a guest sees on the disk below. */
export const qcow2Content = (): Buffer => {
  const disk = Buffer.alloc(diskSize)
  pattern(3).copy(disk, 0)
  pattern(7).copy(disk, 3 * cluster)
  disk.fill('compressed', 7 * cluster, 8 * cluster)
  return disk
}

/**
 * A qcow2 image of version 3, field by field: a disk of 1 MB whose clusters 0 and 3 are data, 5 zeros, and 7 compressed. Knows
 * nothing of the code that it tests.
 */
export const qcow2Image = (): Buffer => {
  const bytes = Buffer.alloc(parts * cluster)
  const at = (number: number): bigint => BigInt(number * cluster)
  bytes.write('QFI\xfb', 'latin1')
  bytes.writeUInt32BE(3, 4)
  bytes.writeUInt32BE(clusterBits, 20)
  bytes.writeBigUInt64BE(BigInt(diskSize), 24)
  bytes.writeUInt32BE(1, 36)
  bytes.writeBigUInt64BE(at(part.l1), 40)
  bytes.writeBigUInt64BE(at(part.refcountTable), 48)
  bytes.writeUInt32BE(1, 56)
  bytes.writeUInt32BE(4, 96)
  bytes.writeUInt32BE(104, 100)
  bytes.writeBigUInt64BE(at(part.refcountBlock), part.refcountTable * cluster)
  for (let index = 0; index < parts; index++) bytes.writeUInt16BE(1, part.refcountBlock * cluster + index * 2)
  bytes.writeBigUInt64BE(at(part.l2) | copied, part.l1 * cluster)
  bytes.writeBigUInt64BE(at(part.first) | copied, l2Entry(0))
  bytes.writeBigUInt64BE(at(part.second) | copied, l2Entry(3))
  bytes.writeBigUInt64BE(1n, l2Entry(5))
  bytes.writeBigUInt64BE(compressedEntry(part.compressed * cluster), l2Entry(7))
  const content = qcow2Content()
  content.copy(bytes, part.first * cluster, 0, cluster)
  content.copy(bytes, part.second * cluster, 3 * cluster, 4 * cluster)
  deflateRawSync(content.subarray(7 * cluster, 8 * cluster), { windowBits: 12 }).copy(bytes, part.compressed * cluster)
  return bytes
}

/** The image with a header extension. */
export const withExtension = (type: number, data = '', length = data.length): Buffer => {
  const bytes = qcow2Image()
  bytes.writeUInt32BE(type, 104)
  bytes.writeUInt32BE(length, 108)
  bytes.write(data, 112)
  return bytes
}
