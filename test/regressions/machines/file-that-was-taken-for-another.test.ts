import { renameSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openHostFiles } from '#lib/platform/host-files.ts'
import { newFolder } from '../../support/folder.ts'

test('a file that has the number of one of the service that was replaced is not refused', async () => {
  using folder = newFolder()
  const own = join(folder.path, 'store.db.commits')
  writeFileSync(own, 'one')
  const files = await openHostFiles({ folders: [], files: () => [own], allowed: 'any', except: [] })
  // The system gives the number of a file that is gone to the next one that is made.
  const number = statSync(own, { bigint: true })
  expect(await files.isProtectedFile(number)).toBe(true)
  writeFileSync(`${own}.new`, 'two')
  renameSync(`${own}.new`, own)
  expect(await files.isProtectedFile(number)).toBe(false)
  expect(await files.isProtectedFile(statSync(own, { bigint: true }))).toBe(true)
})
