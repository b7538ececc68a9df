import { describe, expect, test } from 'vitest'
import { change, type HostileImage, inspectBytes, testRefusals } from '../../support/images/mutations.ts'
import { descriptor, sectors, sparseVmdk, streamVmdk } from '../../support/images/vmdk-image.ts'

type Change = (bytes: Buffer) => unknown
const sparse = (what: string, changes: Change, why: RegExp): HostileImage => [
  what,
  () => change(sparseVmdk(), changes),
  why,
]
const stream = (what: string, changes: Change, why: RegExp): HostileImage => [
  what,
  () => change(streamVmdk(), changes),
  why,
]
const text = (what: string, from: string | RegExp, to: string, why: RegExp): HostileImage => [
  what,
  () => sparseVmdk(descriptor('monolithicSparse').replace(from, to)),
  why,
]
const u32 = (value: number, at: number) => (bytes: Buffer) => bytes.writeUInt32LE(value, at)
const u64 = (value: bigint | number, at: number) => (bytes: Buffer) => bytes.writeBigUInt64LE(BigInt(value), at)
const extent = /RW 2048 SPARSE "disk.vmdk"/
const [directory, table] = [sectors.directory * 512, sectors.table * 512]

const header: readonly HostileImage[] = [
  ['it ends in its magic', () => sparseVmdk().subarray(0, 4), /header is damaged/],
  ['it ends in its header', () => sparseVmdk().subarray(0, 100), /header is damaged/],
  ['it ends in its descriptor', () => sparseVmdk().subarray(0, 600), /cut off/],
  ['it ends before its tables', () => sparseVmdk().subarray(0, directory), /outside the file/],
  ['it ends before its grains', () => sparseVmdk().subarray(0, sectors.first * 512), /outside the file/],
  ['it ends within a grain', () => sparseVmdk().subarray(0, sectors.end * 512 - 1), /outside the file/],
  sparse('it has version 0', u32(0, 4), /version 0/),
  sparse('it has version 4', u32(4, 4), /version 4/),
  sparse('it has an unknown feature', u32(9, 8), /feature that is unknown/),
  sparse('it has the last unknown feature', u32(0x80000001, 8), /feature that is unknown/),
  sparse('it is compressed without markers', u32(0x10001, 8), /compression/),
  sparse('it has markers without compression', u32(0x20001, 8), /compression/),
  sparse('it has compression without saying so', bytes => bytes.writeUInt16LE(1, 77), /compression/),
  stream('its compression is unknown', bytes => bytes.writeUInt16LE(2, 77), /compression/),
  sparse('a transfer made newlines of it', bytes => bytes.write('\n\n\n\n', 73), /transfer as text/),
  sparse('it has no disk', u64(0, 12), /only a descriptor/),
  sparse('its disk is too large', u64(2n ** 36n, 12), /larger than 16 TB/),
  sparse('its disk is absurd', u64(2n ** 64n - 1n, 12), /larger than 16 TB/),
  sparse('its grains have no sectors', u64(0, 20), /grains have 0/),
  sparse('its grains are too small', u64(4, 20), /grains have 4/),
  sparse('its grains are too large', u64(4096, 20), /grains have 4096/),
  sparse('its grains are no power of two', u64(24, 20), /grains have 24/),
  sparse('its grains are absurd', u64(2n ** 63n, 20), /out of range/),
  sparse('its descriptor is nowhere', u64(0, 28), /descriptor is not behind/),
  sparse('its descriptor is elsewhere', u64(2, 28), /descriptor is not behind/),
  sparse('its descriptor is empty', u64(0, 36), /descriptor is not behind/),
  sparse('its descriptor is too long', u64(129, 36), /descriptor is not behind/),
  sparse('its descriptor has an absurd length', u64(2n ** 62n, 36), /descriptor is not behind/),
  sparse('its grain tables have no entries', u32(0, 44), /entries/),
  sparse('its grain tables have too many entries', u32(0xffffffff, 44), /entries/),
  sparse('its first grain is outside', u64(1000, 64), /cut off/),
  sparse('its disk is larger than its descriptor says', u64(4096, 12), /disagree about the size/),
]

const names: readonly HostileImage[] = [
  ['it has no descriptor', () => sparseVmdk(''), /no descriptor/],
  ['its descriptor is something else', () => sparseVmdk('# Some other file\nversion=1\n'), /no descriptor/],
  text('its type is not said', /createType.*\n/, '', /does not say createType/),
  text('its parent is not said', /parentCID.*\n/, '', /does not say parentCID/),
  text('its type is monolithicFlat', 'monolithicSparse', 'monolithicFlat', /only a sparse image in one file/),
  text('its type is twoGbMaxExtentSparse', 'monolithicSparse', 'twoGbMaxExtentSparse', /only a sparse image/),
  text('its type is vmfs', 'monolithicSparse', 'vmfs', /only a sparse image/),
  text('its type is fullDevice', 'monolithicSparse', 'fullDevice', /only a sparse image/),
  text('its type is custom', 'monolithicSparse', 'custom', /only a sparse image/),
  text('its type is streamOptimized', 'monolithicSparse', 'streamOptimized', /disagree about compression/),
  ['its stream says that it is sparse', () => streamVmdk(descriptor('monolithicSparse')), /disagree about compression/],
  text('its type is said twice', 'version=1', 'createType="monolithicSparse"', /createType twice/),
  text('it has a parent', 'ffffffff', '12345678', /builds on another image/),
  text('it has the name of a parent', 'version=1', 'version=1\nparentFileNameHint="/secret"', /builds on another/),
  text('it has the name of a parent in a comment', '#DDB', '# parentFileNameHint="/secret"', /builds on another/),
  text('it has the name of a parent in small letters', '#DDB', 'parentfilenamehint="/secret"', /builds on another/),
  [
    'the name of a parent is behind its descriptor',
    () =>
      change(sparseVmdk(), bytes => {
        bytes.writeBigUInt64LE(2n, 36)
        bytes.write('parentFileNameHint="/secret"', 512 * 5)
      }),
    /builds on another image/,
  ],
  ['something is behind a NUL', () => sparseVmdk(`${descriptor('monolithicSparse')}\0RW 1 FLAT "/x" 0`), /NUL/],
  text('it has a file of changed blocks', '#DDB', 'changeTrackPath="/secret"', /unknown/),
  text('it has an unknown key', '#DDB', 'something="else"', /unknown/),
  text('it is a native snapshot', '#DDB', 'isNativeSnapshot="yes"', /only a sparse image/),
  text('it has a line that is no entry', '#DDB', 'anything', /unknown/),
  text('it has no extent', extent, '', /names 0 files/),
  text('it has two extents', extent, 'RW 1024 SPARSE "a.vmdk"\nRW 1024 SPARSE "b.vmdk"', /names 2 files/),
  text('its extent is flat', extent, 'RW 2048 FLAT "/etc/hostname" 0', /an extent of the type RW FLAT/),
  text('its extent is a file of VMFS', extent, 'RW 2048 VMFS "x-flat.vmdk"', /an extent of the type RW VMFS/),
  text('its extent is of zeros', extent, 'RW 2048 ZERO', /an extent of the type RW ZERO/),
  text('its extent is a device', extent, 'RW 2048 FLAT "/dev/sda" 0', /an extent of the type RW FLAT/),
  text('its extent is without access', extent, 'NOACCESS 2048 SPARSE "disk.vmdk"', /NOACCESS/),
  text('its extent has another size', extent, 'RW 4096 SPARSE "disk.vmdk"', /disagree about the size/),
  text('its extent is an absolute path', extent, 'RW 2048 SPARSE "/etc/hostname"', /another folder/),
  text('its extent is in another folder', extent, 'RW 2048 SPARSE "../disk.vmdk"', /another folder/),
  text('its extent is in a folder below', extent, 'RW 2048 SPARSE "a/disk.vmdk"', /another folder/),
  text('its extent is on another computer', extent, 'RW 2048 SPARSE "nbd:localhost:1"', /another folder/),
  text('its extent is a path of Windows', extent, 'RW 2048 SPARSE "C:\\\\disk.vmdk"', /another folder/),
  text('its extent has no name', extent, 'RW 2048 SPARSE ""', /another folder/),
  text('its extent has an absurd size', extent, 'RW 99999999999999999999 SPARSE "disk.vmdk"', /unknown/),
]

const tables: readonly HostileImage[] = [
  sparse('its directory is its header', u64(0, 56), /overlaps/),
  sparse('its directory is its descriptor', u64(3, 56), /overlaps/),
  sparse('its directory is outside', u64(sectors.end, 56), /outside the file/),
  sparse('its directory is far outside', u64(2n ** 54n, 56), /outside the file/),
  sparse('its directory is in a footer that it lacks', u64(2n ** 64n - 1n, 56), /footer/),
  sparse(
    'a spare directory is outside',
    bytes => {
      u32(3, 8)(bytes)
      u64(2n ** 40n, 48)(bytes)
    },
    /outside the file/,
  ),
  sparse(
    'a spare directory is the directory',
    bytes => {
      u32(3, 8)(bytes)
      u64(21, 48)(bytes)
    },
    /overlaps/,
  ),
  sparse('a grain table is its header', u32(0x10000000, directory), /outside the file/),
  sparse('a grain table is outside', u32(sectors.end, directory), /outside the file/),
  sparse('a grain table ends outside', u32(sectors.end - 1, directory), /outside the file/),
  sparse('a grain table is far outside', u32(0xffffffff, directory), /outside the file/),
  sparse('a grain table is its descriptor', u32(2, directory), /overlaps/),
  sparse('a grain table is its directory', u32(sectors.directory, directory), /overlaps/),
  sparse('a grain is its header', u32(1, table), /overlaps/),
  sparse('a grain is its grain table', u32(sectors.table, table), /overlaps/),
  sparse('a grain is outside', u32(sectors.end, table), /outside the file/),
  sparse('a grain ends outside', u32(sectors.end - 7, table), /outside the file/),
  sparse('a grain is far outside', u32(0xffffffff, table), /outside the file/),
  sparse('a grain is there twice', u32(sectors.first, table + 4), /overlaps/),
  sparse('a grain begins within another one', u32(sectors.first + 4, table + 4), /overlaps/),
  sparse('a grain behind its disk is outside', u32(sectors.end, table + 511 * 4), /outside the file/),
]

const footer: readonly HostileImage[] = [
  ['its footer is cut off', () => streamVmdk().subarray(0, -512), /cut off/],
  ['its last bytes are missing', () => streamVmdk().subarray(0, -1), /cut off/],
  ['something follows its footer', () => Buffer.concat([streamVmdk(), Buffer.alloc(512)]), /cut off/],
  stream('its footer has no marker', bytes => u32(0, bytes.length - 1536 + 12)(bytes), /cut off/),
  stream('the marker of its footer has a size', bytes => u32(1, bytes.length - 1536 + 8)(bytes), /cut off/),
  stream('its last marker is not empty', bytes => u32(1, bytes.length - 512)(bytes), /cut off/),
  stream('its footer is no header', bytes => bytes.write('XXXX', bytes.length - 1024), /header is damaged/),
  stream('its footer has another disk', bytes => u64(4096, bytes.length - 1024 + 12)(bytes), /footer disagree/),
  stream('its footer has no disk', bytes => u64(0, bytes.length - 1024 + 12)(bytes), /only a descriptor/),
  stream('its footer has other grains', bytes => u64(16, bytes.length - 1024 + 20)(bytes), /footer disagree/),
  stream('its footer has other flags', bytes => u32(0x30005, bytes.length - 1024 + 8)(bytes), /footer disagree/),
  stream('its footer names a footer', bytes => u64(2n ** 64n - 1n, bytes.length - 1024 + 56)(bytes), /does not say/),
  stream('its directory is the header', bytes => u64(0, bytes.length - 1024 + 56)(bytes), /overlaps/),
  stream('its directory is outside', bytes => u64(9999, bytes.length - 1024 + 56)(bytes), /outside the file/),
]

describe('a VMDK image', () => {
  test.for([
    ['monolithicSparse', sparseVmdk],
    ['streamOptimized', streamVmdk],
  ] as const)('of the type %s is accepted with its sizes', async ([, image]) => {
    expect(await inspectBytes(image())).toEqual({
      format: 'vmdk',
      virtualSize: 1 << 20,
      dataSize: 2 * 65_536,
      offset: 0,
      length: image().length,
    })
  })

  testRefusals([...header, ...names, ...tables, ...footer])
})
