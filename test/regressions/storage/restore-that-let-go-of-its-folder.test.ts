import { join } from 'node:path'
import { expect, test } from 'vitest'
import { lockFolder } from '#lib/storage/lock.ts'
import { restoreStore } from '#lib/storage/copies/restore.ts'
import { newFolder } from '../../support/folder.ts'
import { openKept } from '../../support/kept-store.ts'

test('no service can start in a folder whose store is being restored', async () => {
  using folder = newFolder()
  const { store } = await openKept(folder.path, undefined)
  const copy = join(folder.path, 'copy.db')
  await store.backup(copy)
  await store[Symbol.asyncDispose]()
  const restored = restoreStore(folder.path, copy, undefined)
  expect(() => lockFolder(folder.path)).toThrow('Another vmhost runs on the state folder')
  await restored
  lockFolder(folder.path)[Symbol.dispose]()
})
