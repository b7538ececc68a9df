import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { expect, test } from 'vitest'
import { openWorkFolders } from '#lib/catalog/transfers/work-folder.ts'
import { newFolder } from '../../../support/folder.ts'

test('what the last process left is there for the same transfer, and goes when nobody has come for it', async () => {
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
