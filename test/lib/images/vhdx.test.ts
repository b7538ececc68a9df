import { describe, expect, test } from 'vitest'
import { change, type HostileImage, inspectBytes, testRefusals } from '../../support/images/mutations.ts'
import {
  at,
  diskSize,
  item,
  itemEntry,
  megabyte,
  seal,
  tableEntry,
  vhdxImage,
  writeGuid,
} from '../../support/images/vhdx-image.ts'

type Change = (bytes: Buffer) => unknown
const image = (what: string, why: RegExp, ...changes: readonly Change[]): HostileImage => [
  what,
  () => change(vhdxImage(), ...changes, seal),
  why,
]
const u16 = (value: number, position: number) => (bytes: Buffer) => bytes.writeUInt16LE(value, position)
const u32 = (value: number, position: number) => (bytes: Buffer) => bytes.writeUInt32LE(value, position)
const u64 = (value: bigint | number, position: number) => (bytes: Buffer) =>
  bytes.writeBigUInt64LE(BigInt(value), position)
/** Changes a field of both headers. */
const headers =
  (edit: (start: number) => Change): Change =>
  bytes =>
    at.headers.forEach(start => edit(start)(bytes))
const [tableRegion, metadataRegion] = [at.regions + 16, at.regions + 48]
const unknown = '11111111-2222-3333-4444-555555555555'

const structures: readonly HostileImage[] = [
  ['it ends in its magic', () => vhdxImage().subarray(0, 8), /headers are damaged/],
  ['it ends in its headers', () => vhdxImage().subarray(0, 100_000), /outside the file/],
  ['it ends before its log', () => vhdxImage().subarray(0, megabyte), /outside the file/],
  ['it ends before its table', () => vhdxImage().subarray(0, 2 * megabyte), /outside the file/],
  ['it ends before its metadata', () => vhdxImage().subarray(0, 3 * megabyte), /outside the file/],
  ['it ends in its metadata', () => vhdxImage().subarray(0, 3 * megabyte + 9), /outside the file/],
  ['it ends before a block', () => vhdxImage().subarray(0, at.blocks), /outside the file/],
  ['it ends within a block', () => vhdxImage().subarray(0, -1), /outside the file/],
  [
    'its headers have other bytes',
    () =>
      change(
        vhdxImage(),
        headers(start => u32(7, start + 200)),
      ),
    /headers are/,
  ],
  image(
    'its headers have another magic',
    /headers are damaged/,
    headers(start => u32(0, start)),
  ),
  image(
    'its headers have version 0',
    /headers are damaged/,
    headers(start => u16(0, start + 66)),
  ),
  image(
    'its headers have version 2',
    /headers are damaged/,
    headers(start => u16(2, start + 66)),
  ),
  image(
    'its headers are equally new and different',
    /equally new/,
    u64(1, at.headers[1] + 8),
    u32(5, at.headers[1] + 16),
  ),
  image('its log has changes', /was not closed/, u32(1, at.headers[1] + 48)),
  image(
    'its only valid header has a log with changes',
    /was not closed/,
    u32(1, at.headers[0] + 48),
    u16(9, at.headers[1] + 66),
  ),
  image(
    'its log has an unknown version',
    /unknown version/,
    headers(start => u16(1, start + 64)),
  ),
  image(
    'its log is not aligned',
    /log is misaligned/,
    headers(start => u64(megabyte + 512, start + 72)),
  ),
  image(
    'its log has an odd length',
    /log is misaligned/,
    headers(start => u32(4096, start + 68)),
  ),
  image(
    'its log is its header',
    /overlaps/,
    headers(start => u64(0, start + 72)),
  ),
  image(
    'its log is outside',
    /outside the file/,
    headers(start => u64(100 * megabyte, start + 72)),
  ),
  image(
    'its log is far outside',
    /outside the file/,
    headers(start => u64(2n ** 63n, start + 72)),
  ),
  image(
    'its log is longer than the file',
    /outside the file/,
    headers(start => u32(0xfff00000, start + 68)),
  ),
  ['its region table has other bytes', () => change(vhdxImage(), u32(7, at.regions + 9000)), /region table is damaged/],
  image('its region table has another magic', /region table is damaged/, u32(0, at.regions)),
  image('it has no regions', /lacks a region/, u32(0, at.regions + 8)),
  image('it has one region', /lacks a region/, u32(1, at.regions + 8)),
  image('it has too many regions', /too long/, u32(2048, at.regions + 8)),
  image('it has the largest number of regions', /too long/, u32(0xffffffff, at.regions + 8)),
  image('it has an unknown region', /region of an unknown kind/, bytes => writeGuid(bytes, tableRegion, unknown)),
  image('it has two tables', /two regions/, bytes =>
    writeGuid(bytes, metadataRegion, '2dc27766-f623-4200-9d64-115e9bfd4a08'),
  ),
  image('its table is not aligned', /region is misaligned or empty/, u64(2 * megabyte + 512, tableRegion + 16)),
  image('its table has an odd length', /region is misaligned or empty/, u32(4096, tableRegion + 24)),
  image('its table has no length', /region is misaligned or empty/, u32(0, tableRegion + 24)),
  image('its table is its header', /overlaps/, u64(0, tableRegion + 16)),
  image('its table is its log', /overlaps/, u64(at.log, tableRegion + 16)),
  image('its table is its metadata', /overlaps/, u64(at.metadata, tableRegion + 16)),
  image('its table is outside', /outside the file/, u64(100 * megabyte, tableRegion + 16)),
  image('its table is far outside', /outside the file/, u64(2n ** 62n, tableRegion + 16)),
  image('its metadata is its header', /overlaps/, u64(0, metadataRegion + 16)),
  image('its metadata is outside', /outside the file/, u64(100 * megabyte, metadataRegion + 16)),
  image('its metadata is longer than the file', /outside the file/, u32(64 * megabyte, metadataRegion + 24)),
]

const metadata: readonly HostileImage[] = [
  image('its metadata has another magic', /metadata is damaged/, u32(0, at.metadata)),
  image('its metadata has no items', /does not say the parameters/, u16(0, at.metadata + 10)),
  image('its metadata has too many items', /too many items/, u16(2048, at.metadata + 10)),
  image('its metadata has unknown items', /item of an unknown kind/, u16(6, at.metadata + 10)),
  image('it has a list of parents', /builds on another/, bytes =>
    writeGuid(bytes, itemEntry(4), 'a8d35f2d-b30b-454d-abf7-d3d84834ab0c'),
  ),
  image('it has a parent', /builds on another/, u32(2, item(0) + 4)),
  image('it has an unknown parameter', /feature that is unknown/, u32(4, item(0) + 4)),
  image('it says its size twice', /size twice/, bytes =>
    writeGuid(bytes, itemEntry(4), '2fa54224-cd1b-4876-b211-5dbed83bf4b8'),
  ),
  image('an item is in the table of items', /wrong position or length/, u32(32, itemEntry(1) + 16)),
  image('an item is outside its region', /wrong position or length/, u32(megabyte, itemEntry(1) + 16)),
  image('an item is far outside', /wrong position or length/, u32(0xffffffff, itemEntry(1) + 16)),
  image('an item is too long', /wrong position or length/, u32(megabyte, itemEntry(1) + 20)),
  image('an item is too short', /does not say the size/, u32(4, itemEntry(1) + 20)),
  image('its blocks have no bytes', /blocks have 0 bytes/, u32(0, item(0))),
  image('its blocks are too small', /out of range/, u32(megabyte / 2, item(0))),
  image('its blocks are too large', /out of range/, u32(512 * megabyte, item(0))),
  image('its blocks are no power of two', /out of range/, u32(3 * megabyte, item(0))),
  image('its disk has no bytes', /disk is empty/, u64(0, item(1))),
  image('its disk is no multiple of a sector', /no multiple of 512/, u64(diskSize + 1, item(1))),
  image('its disk is too large', /larger than 16 TB/, u64(2n ** 45n, item(1))),
  image('its disk is absurd', /larger than 16 TB/, u64(2n ** 64n - 512n, item(1))),
  image('its sectors have 4096 bytes', /sectors of 4096/, u32(4096, item(2))),
  image('its sectors have no bytes', /sectors of 0/, u32(0, item(2))),
]

const blocks: readonly HostileImage[] = [
  image('its table is too short for its disk', /table is too short/, u64(2n ** 40n, item(1))),
  image('a block is in an unknown state', /state/, u64(tableEntry(4, at.blocks), at.table)),
  image('a block is in another unknown state', /state/, u64(tableEntry(5, at.blocks), at.table)),
  image('a block is partly in a parent', /state/, u64(tableEntry(7, at.blocks), at.table)),
  image('a block has reserved bits', /must be zero/, u64(tableEntry(6, at.blocks) | 8n, at.table)),
  image('a block of zeros has reserved bits', /must be zero/, u64(0x80000n, at.table + 8)),
  image('a block is its header', /overlaps/, u64(tableEntry(6, 0), at.table)),
  image('a block is its log', /overlaps/, u64(tableEntry(6, at.log), at.table)),
  image('a block is its table', /overlaps/, u64(tableEntry(6, at.table), at.table)),
  image('a block is its metadata', /overlaps/, u64(tableEntry(6, at.metadata), at.table)),
  image('a block is outside', /outside the file/, u64(tableEntry(6, 100 * megabyte), at.table)),
  image('a block is far outside', /outside the file/, u64(2n ** 64n - 2n ** 20n + 6n, at.table)),
  image('a block is there twice', /overlaps/, u64(tableEntry(6, at.blocks), at.table + 8)),
  image('a bitmap is there', /state/, u32(256 * megabyte, item(0)), u64(2n ** 33n, item(1)), bytes => {
    bytes.fill(0, at.table, at.table + 400)
    bytes.writeBigUInt64LE(tableEntry(6, at.blocks), at.table + 16 * 8)
  }),
]

describe('a VHDX image', () => {
  test('is accepted with its sizes', async () => {
    expect(await inspectBytes(vhdxImage())).toEqual({
      format: 'vhdx',
      virtualSize: diskSize,
      dataSize: 2 * megabyte,
      offset: 0,
      length: 6 * megabyte,
    })
  })

  test('is accepted if one of its headers is damaged, and with blocks of zeros', async () => {
    const images = [u16(9, at.headers[0] + 66), u64(1, at.table + 8), u64(2, at.table + 8), u64(3, at.table + 8)]
    for (const one of images)
      await expect(inspectBytes(change(vhdxImage(), one, seal))).resolves.toMatchObject({ format: 'vhdx' })
  })

  testRefusals([...structures, ...metadata, ...blocks])
})
