import { describe, expect, test } from 'vitest'
import { change, type HostileImage, inspectBytes, testRefusals } from '../../support/images/mutations.ts'

const bytes = (size: number, at: number, text: string): Buffer =>
  change(Buffer.alloc(size), image => image.write(text, at, 'latin1'))
/** The image of a CD whose volume has so many sectors of 2048 bytes. */
const cd = (sectors: number, size = sectors * 2048): Buffer =>
  change(Buffer.alloc(size), image => {
    image.write('\x01CD001\x01', 32_768, 'latin1')
    image.writeUInt32LE(sectors, 32_768 + 80)
    image.writeUInt16LE(2048, 32_768 + 128)
  })

const others: readonly HostileImage[] = [
  ['it is empty', () => Buffer.alloc(0), /disk is empty/],
  ['it has one byte', () => Buffer.alloc(1), /no multiple of 512/],
  ['it is no multiple of a sector', () => Buffer.alloc(1025), /no multiple of 512/],
  ['it is a CD that is cut off', () => cd(30, 20 * 2048), /cut off/],
  ['it is a list of files', () => bytes(512, 0, '# Disk DescriptorFile\nRW 1 FLAT "/etc/hostname" 0'), /other files/],
  ['it is a VMDK of ESX', () => bytes(512, 0, 'COWD'), /ESX/],
  ['it is a sparse VMDK of ESX', () => bytes(512, 0, '\xbe\xba\xfe\xca\0\0\0\0'), /ESX/],
  ['it is a VDI', () => bytes(512, 64, '\x7f\x10\xda\xbe'), /VDI/],
  ['it is a VHD', () => bytes(1024, 0, 'conectix'), /VHD/],
  ['it is a fixed VHD', () => bytes(1024, 512, 'conectix'), /VHD/],
  ['it is a QED', () => bytes(512, 0, 'QED\0'), /QED/],
  ['it is a QCOW of version 1', () => bytes(512, 0, 'QFI\xfb\0\0\0\x01'), /QCOW/],
  ['it is of Parallels', () => bytes(512, 0, 'WithoutFreeSpace'), /Parallels/],
  ['it is of newer Parallels', () => bytes(512, 0, 'WithouFreSpacExt'), /Parallels/],
  ['it is a DMG', () => bytes(1024, 512, 'koly\0\0\0\x04'), /DMG/],
  ['it is of LUKS', () => bytes(512, 0, 'LUKS\xba\xbe'), /LUKS/],
  ['it is compressed by gzip', () => bytes(512, 0, '\x1f\x8b\x08'), /gzip.*Unpack/],
  ['it is compressed by xz', () => bytes(512, 0, '\xfd7zXZ\0'), /xz/],
  ['it is compressed by zstd', () => bytes(512, 0, '\x28\xb5\x2f\xfd'), /zstd/],
  ['it is compressed by bzip2', () => bytes(512, 0, 'BZh91AY'), /bzip2/],
  ['it is a zip', () => bytes(512, 0, 'PK\x03\x04'), /zip/],
  ['it is a 7z', () => bytes(512, 0, "7z\xbc\xaf'\x1c"), /7z/],
]

describe('any other file', () => {
  test('is a raw disk with its size', async () => {
    const facts = { format: 'raw', virtualSize: 1024, dataSize: 1024, offset: 0, length: 1024 }
    expect(await inspectBytes(Buffer.alloc(1024, 'json:{"driver":"file","filename":"/etc/hostname"}'))).toEqual(facts)
  })

  test('is a CD if it has such a file system', async () => {
    await expect(inspectBytes(cd(30))).resolves.toMatchObject({ format: 'iso', virtualSize: 30 * 2048 })
  })

  testRefusals(others)
})
