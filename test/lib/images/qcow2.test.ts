import { describe, expect, test } from 'vitest'
import { change, type HostileImage, inspectBytes, testRefusals } from '../../support/images/mutations.ts'
import {
  cluster,
  compressedEntry,
  copied,
  diskSize,
  l2Entry,
  part,
  qcow2Image,
  withExtension,
} from '../../support/images/qcow2-image.ts'

const u32 = (what: string, at: number, value: number, why: RegExp): HostileImage => [
  what,
  () => change(qcow2Image(), bytes => bytes.writeUInt32BE(value, at)),
  why,
]
const u64 = (what: string, at: number, value: bigint | number, why: RegExp): HostileImage => [
  what,
  () => change(qcow2Image(), bytes => bytes.writeBigUInt64BE(BigInt(value), at)),
  why,
]
const at = (number: number): bigint => BigInt(number * cluster)
const l1 = part.l1 * cluster
const refcounts = part.refcountTable * cluster
/** The image with entries of 16 bytes. */
const withSubclusters =
  (...changes: readonly ((bytes: Buffer) => unknown)[]) =>
  (): Buffer => {
    const image = Buffer.alloc(8 << 14)
    const old = qcow2Image()
    old.copy(image, 0, 0, 112)
    image.writeUInt32BE(14, 20)
    image.writeBigUInt64BE(16n, 72)
    for (const [field, number] of [
      [40, 3],
      [48, 1],
    ] as const)
      image.writeBigUInt64BE(BigInt(number << 14), field)
    image.writeBigUInt64BE(BigInt(2 << 14), 1 << 14)
    image.writeBigUInt64BE(BigInt(4 << 14), 3 << 14)
    image.writeBigUInt64BE(BigInt(5 << 14), 4 << 14)
    image.writeUInt32BE(0xffff, (4 << 14) + 12)
    return change(image, ...changes)
  }
const subclusterEntry = 4 << 14

const header: readonly HostileImage[] = [
  ['it ends in its magic', () => qcow2Image().subarray(0, 71), /ends within its header/],
  ['it ends in its header', () => qcow2Image().subarray(0, 100), /length of its header/],
  ['it ends before its tables', () => qcow2Image().subarray(0, cluster), /outside the file/],
  ['it ends before its level 2 table', () => qcow2Image().subarray(0, part.l2 * cluster), /outside the file/],
  ['it ends within its level 2 table', () => qcow2Image().subarray(0, part.l2 * cluster + 100), /outside the file/],
  ['it ends before a cluster', () => qcow2Image().subarray(0, part.second * cluster), /outside the file/],
  ['it has version 0', () => change(qcow2Image(), bytes => bytes.writeUInt32BE(0, 4)), /version 0/],
  u32('it has version 1', 4, 1, /version 1/),
  u32('it has version 4', 4, 4, /version 4/),
  u64('it names a backing image', 8, 0x200, /builds on another image/),
  u64('it names a backing image far outside', 8, 2n ** 63n, /builds on another image/),
  u32('it has the length of the name of a backing image', 16, 9, /builds on another image/),
  u32('its clusters are too small', 20, 8, /clusters of 2\^8/),
  u32('its clusters are too large', 20, 22, /clusters of 2\^22/),
  u32('its clusters are absurd', 20, 0xffffffff, /out of range/),
  u64('its disk has no bytes', 24, 0, /disk is empty/),
  u64('its disk is no multiple of a sector', 24, 1000, /no multiple of 512/),
  u64('its disk is too large', 24, 2n ** 45n, /larger than 16 TB/),
  u64('its disk has the largest number of bytes', 24, 2n ** 64n - 512n, /larger than 16 TB/),
  u32('it is encrypted by AES', 32, 1, /encrypted/),
  u32('it is encrypted by LUKS', 32, 2, /encrypted/),
  u32('its level 1 table is too large', 36, 0x00400001, /level 1 table is too large/),
  u32('its level 1 table has the largest number of entries', 36, 0xffffffff, /level 1 table is too large/),
  u32('its level 1 table has no entries', 36, 0, /too short/),
  u64('its level 1 table is too short', 24, 64 << 20, /too short/),
  u64('its level 1 table is in its header', 40, 0, /overlaps/),
  u64('its level 1 table is not aligned', 40, l1 + 512, /begin with a cluster/),
  u64('its level 1 table is at the end of the file', 40, 8 * cluster, /outside the file/),
  u64('its level 1 table is far outside', 40, 2n ** 62n, /outside the file/),
  u64('its level 1 table is its table of reference counts', 40, refcounts, /overlaps/),
  u64('its reference counts are not aligned', 48, refcounts + 8, /begin with a cluster/),
  u64('its reference counts are far outside', 48, 2n ** 63n, /outside the file/),
  u64('its reference counts are in its header', 48, 0, /overlaps/),
  u32('it has no reference counts', 56, 0, /reference counts is out of range/),
  u32('it has too many reference counts', 56, 4096, /reference counts is out of range/),
  u32('its reference counts are longer than the file', 56, 100, /outside the file/),
  u32('it has a snapshot', 60, 1, /snapshots/),
  u32('it has the largest number of snapshots', 60, 0xffffffff, /snapshots/),
  u32('its reference counts are too wide', 96, 7, /too wide/),
  u32('its header is too short', 100, 72, /length of its header/),
  u32('the length of its header is odd', 100, 107, /length of its header/),
  u32('its header is longer than a cluster', 100, cluster + 8, /length of its header/),
  u32('its header is of the largest length', 100, 0xfffffff8, /length of its header/),
  u64('it was not closed', 72, 1, /was not closed/),
  u64('it is marked as damaged', 72, 2, /marked as damaged/),
  u64('its data is in another file', 72, 4, /data is in another file/),
  u64('it has a kind of compression without saying which', 72, 8, /compression/),
  u64('it has entries of 16 bytes in small clusters', 72, 16, /too small/),
  u64('it has an unknown feature', 72, 32, /feature that is unknown/),
  u64('it has the last unknown feature', 72, 2n ** 63n, /feature that is unknown/),
  [
    'its compression is unknown',
    () =>
      change(qcow2Image(), bytes => {
        bytes.writeBigUInt64BE(8n, 72)
        bytes.writeUInt32BE(112, 100)
        bytes.writeUInt8(2, 104)
      }),
    /compression/,
  ],
  ['it names a data file', () => withExtension(0x44415441, '/etc/hostname'), /names a file with its data/],
  ['it has a key of LUKS', () => withExtension(0x0537be77, 'x'.repeat(16)), /encrypted/],
  ['it has bitmaps', () => withExtension(0x23852875, 'x'.repeat(24)), /bitmaps/],
  ['it has an unknown extension', () => withExtension(0x12345678, 'x'), /extension 12345678/],
  ['an extension is longer than the header', () => withExtension(0x6803f857, 'x', 0xffff), /longer than the header/],
  ['an extension has the largest length', () => withExtension(0x6803f857, 'x', 0xffffffff), /longer than the header/],
]

const tables: readonly HostileImage[] = [
  u64('a block of reference counts is outside', refcounts, at(8), /outside the file/),
  u64('a block of reference counts is not aligned', refcounts, at(2) + 512n, /begin with a cluster/),
  u64('a block of reference counts has reserved bits', refcounts, at(2) + 1n, /must be zero/),
  u64('a block of reference counts is there twice', refcounts + 8, at(2), /overlaps/),
  u64('a block of reference counts is the header', refcounts, 1n << 55n, /outside the file/),
  u64('a level 2 table is outside', l1, at(8), /outside the file/),
  u64('a level 2 table is far outside', l1, (1n << 56n) - at(1), /outside the file/),
  u64('a level 2 table is not aligned', l1, at(4) + 512n, /begin with a cluster/),
  u64('a level 2 table has reserved bits', l1, at(4) | (1n << 56n), /must be zero/),
  u64('a level 2 table has low reserved bits', l1, at(4) | 8n, /must be zero/),
  u64('a level 2 table is the level 1 table', l1, at(3), /overlaps/),
  u64('a level 2 table is the table of reference counts', l1, at(1), /overlaps/),
  u64('a cluster is outside', l2Entry(0), at(8), /outside the file/),
  u64('a cluster is far outside', l2Entry(0), (1n << 56n) - at(1), /outside the file/),
  u64('a cluster is not aligned', l2Entry(0), at(5) + 512n, /cluster is misaligned/),
  u64('a cluster has reserved bits', l2Entry(0), at(5) | (1n << 61n), /must be zero/),
  u64('a cluster has low reserved bits', l2Entry(0), at(5) | 2n, /must be zero/),
  u64('a cluster is its header', l2Entry(0), 0x200, /cluster is misaligned/),
  u64('a cluster is its level 1 table', l2Entry(0), at(3) | copied, /overlaps/),
  u64('a cluster is its own level 2 table', l2Entry(0), at(4), /overlaps/),
  u64('a cluster is its reference counts', l2Entry(0), at(2), /overlaps/),
  u64('a cluster is there twice', l2Entry(1), at(5), /overlaps/),
  u64('a cluster of zeros is there twice', l2Entry(1), at(5) | 1n, /overlaps/),
  u64('the last cluster is behind its disk and outside', l2Entry(511), at(9), /outside the file/),
  u64('compressed data is outside', l2Entry(1), compressedEntry(8 * cluster), /outside the file/),
  u64('compressed data is far outside', l2Entry(1), compressedEntry(2 ** 50), /outside the file/),
  u64('compressed data ends outside', l2Entry(1), compressedEntry(8 * cluster - 512, 3), /outside the file/),
  u64('compressed data is its header', l2Entry(1), compressedEntry(0), /overlaps/),
  u64('compressed data is its level 2 table', l2Entry(1), compressedEntry(part.l2 * cluster + 9), /overlaps/),
  u64('compressed data is plain data', l2Entry(1), compressedEntry(part.first * cluster), /overlaps/),
  u64('plain data is compressed data', l2Entry(9), at(part.compressed), /overlaps/),
  [
    'a part of a cluster is data and zeros',
    withSubclusters(bytes => bytes.writeUInt32BE(1, subclusterEntry + 8)),
    /both data and zeros/,
  ],
  [
    'a part of a cluster has no position',
    withSubclusters(bytes => bytes.writeUInt32BE(1, subclusterEntry + 16 + 12)),
    /without a position/,
  ],
  [
    'a compressed cluster has parts',
    withSubclusters(bytes => bytes.writeBigUInt64BE((1n << 62n) | (6n << 14n), subclusterEntry)),
    /has parts/,
  ],
  [
    'a cluster with parts has the flag of zeros',
    withSubclusters(bytes => bytes.writeBigUInt64BE((5n << 14n) | 1n, subclusterEntry)),
    /must be zero/,
  ],
  [
    'version 2 has the flag of zeros',
    () =>
      change(
        qcow2Image(),
        bytes => bytes.writeUInt32BE(2, 4),
        bytes => bytes.fill(0, 72, 104),
      ),
    /must be zero/,
  ],
  [
    'its clusters are the same compressed data',
    () =>
      change(qcow2Image(), bytes => {
        bytes.writeBigUInt64BE(64n << 20n, 24)
        bytes.writeUInt32BE(32, 36)
        for (let table = 0; table < 32; table++) bytes.writeBigUInt64BE(at(part.l2), l1 + table * 8)
      }),
    /overlaps/,
  ],
  [
    'its content is far larger than the file',
    () => {
      const image = Buffer.alloc(12 << 16)
      qcow2Image().copy(image, 0, 0, 112)
      image.writeUInt32BE(16, 20)
      image.writeBigUInt64BE(1n << 34n, 24)
      image.writeUInt32BE(32, 36)
      image.writeBigUInt64BE(3n << 16n, 40)
      image.writeBigUInt64BE(1n << 16n, 48)
      for (let table = 0; table < 4; table++) {
        image.writeBigUInt64BE(BigInt(4 + table) << 16n, (3 << 16) + table * 8)
        for (let entry = 0; entry < 8192; entry++)
          image.writeBigUInt64BE((1n << 62n) | (9n << 16n), ((4 + table) << 16) + entry * 8)
      }
      return image
    },
    /more than 1024 times/,
  ],
]

describe('a qcow2 image', () => {
  test('is accepted with its sizes', async () => {
    expect(await inspectBytes(qcow2Image())).toEqual({
      format: 'qcow2',
      virtualSize: diskSize,
      dataSize: 3 * 65_536,
      offset: 0,
      length: 8 * cluster,
    })
  })

  test('is accepted with the names of features, the format of no backing image, or parts of clusters', async () => {
    for (const image of [withExtension(0x6803f857, 'x'), withExtension(0xe2792aca, 'qcow2'), withSubclusters()()])
      await expect(inspectBytes(image)).resolves.toMatchObject({ format: 'qcow2' })
  })

  testRefusals([...header, ...tables])
})
