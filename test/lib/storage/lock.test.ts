import { chmodSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { lockFolder } from '#lib/storage/lock.ts'
import { newFolder } from '../../support/folder.ts'
import { canMount, newSmallDisk } from '../../support/disks/small-disk.ts'

describe('the lock of a state folder', () => {
  test('reports another running vmhost only when there is one', () => {
    using folder = newFolder()
    using _ = lockFolder(folder.path)
    expect(() => lockFolder(folder.path)).toThrow('Another vmhost runs on the state folder')
  })

  test.skipIf(!canMount)('is taken on a disk that is full (needs the right to mount)', () => {
    using disk = newSmallDisk(1)
    disk.fill()
    using _ = lockFolder(disk.path)
    expect(() => lockFolder(disk.path)).toThrow('Another vmhost runs')
  })

  test.skipIf(!canMount)('says that a file system is read-only (needs the right to mount)', () => {
    using disk = newSmallDisk(1)
    disk.remount('ro')
    expect(() => lockFolder(disk.path)).toThrow('is on a file system that is read-only')
    disk.remount('rw')
  })

  test.skipIf(process.getuid?.() === 0)('says that the folder may not be written (not as root)', () => {
    using folder = newFolder()
    chmodSync(folder.path, 0o500)
    expect(() => lockFolder(folder.path)).toThrow('may not be written by this user')
    chmodSync(folder.path, 0o700)
  })

  test('says that its file is damaged and may be deleted', () => {
    const garbage = 'garbage'.repeat(1_000)
    using folder = newFolder()
    const file = join(folder.path, 'lock.db')
    writeFileSync(file, garbage)
    expect(() => lockFolder(folder.path)).toThrow(`${file}, which locks the state folder, is damaged. It holds nothing`)
    expect(readFileSync(file, 'utf8')).toBe(garbage)
    rmSync(file)
    using _ = lockFolder(folder.path)
  })

  test('reports any other error', () => {
    using folder = newFolder()
    expect(() => lockFolder(`${folder.path}/nowhere`)).toThrow('could not be locked: ENOENT')
  })
})
