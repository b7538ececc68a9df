import { existsSync, mkdirSync, readdirSync, statfsSync, utimesSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { expect, test } from 'vitest'
import { openWorkFolders } from '#lib/platform/work-folders.ts'
import { newFolder } from '../../support/folder.ts'

test('the folder of an earlier process is opened by the same transfer, and is removed if nobody opens it', async () => {
  using root = newFolder()
  const before = await openWorkFolders(root.path)
  for (const name of ['a', 'b']) writeFileSync(join(await before.open('pull', name), 'pack'), name)
  mkdirSync(join(root.path, 'unused-of-a-process-that-was-killed'))

  const folders = await openWorkFolders(root.path)
  const mine = await folders.open('pull', 'a')
  expect(readdirSync(mine)).toEqual(['pack'])
  const [, begun] = await Promise.all([folders.removeUnused(), folders.open('push', 'a')])
  expect(readdirSync(root.path).sort()).toEqual([mine, begun].map(path => basename(path)).sort())
  expect(readdirSync(mine)).toEqual(['pack'])
})

const markOf = (folder: string): string => join(folder, 'kept')

test('a folder that is kept after an outage is removed after a day, also after a restart', async () => {
  using root = newFolder()
  const before = await openWorkFolders(root.path)
  const [young, old, used] = await Promise.all(['young', 'old', 'used'].map(name => before.open('push', name)))
  for (const folder of [young!, old!]) await before.keep(folder)
  const yesterday = new Date(Date.now() - 25 * 3_600_000)
  utimesSync(markOf(old!), yesterday, yesterday)

  const folders = await openWorkFolders(root.path)
  expect(await folders.open('push', 'used')).toBe(used)
  // A look at what is old comes with each transfer.
  expect(readdirSync(root.path)).toHaveLength(2)
  await folders.removeUnused()
  expect(readdirSync(root.path).sort()).toEqual([young, used].map(path => basename(path!)).sort())
  expect(readdirSync(await folders.open('push', 'young'))).toEqual([])
  await folders.removeUnused()
  expect(readdirSync(root.path)).toHaveLength(2)
})

test('what is kept for a later try makes room for what is under way', async () => {
  using root = newFolder()
  const folders = await openWorkFolders(root.path)
  const kept = await folders.open('pull', 'kept')
  writeFileSync(join(kept, 'pack'), Buffer.alloc(1024 * 1024, 'x'))
  await folders.keep(kept)
  const mine = await folders.open('pull', 'mine')
  await folders.checkSpace(0)
  expect(readdirSync(root.path)).toHaveLength(2)
  await expect(folders.checkSpace(2 ** 60)).rejects.toMatchObject({ fault: 'no-space' })
  expect(readdirSync(root.path)).toEqual([basename(mine)])
})

test.runIf(existsSync('/dev/shm'))('room is looked for on the disk that is written to', async () => {
  using root = newFolder()
  const folders = await openWorkFolders(root.path)
  const { bavail, bsize } = statfsSync('/dev/shm')
  // There is as much elsewhere, or the test says nothing.
  expect(statfsSync(root.path).bavail).toBeGreaterThan(0)
  const elsewhere = { folder: '/dev/shm', bytes: bavail * bsize + 2 ** 30 }
  await expect(folders.checkSpace(0, elsewhere)).rejects.toMatchObject({ fault: 'no-space' })
  await folders.checkSpace(0, { folder: root.path, bytes: 1 })
  // Of one disk both are counted.
  const left = statfsSync(root.path)
  const most = left.bavail * left.bsize * 0.7
  await folders.checkSpace(most)
  await expect(folders.checkSpace(most, { folder: root.path, bytes: most })).rejects.toMatchObject({
    fault: 'no-space',
  })
})
