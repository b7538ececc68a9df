import { hash } from 'node:crypto'
import { chmodSync, mkdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { copyVerified } from '#lib/transfers/cache/copy-verified.ts'
import { newFolder } from '../../support/folder.ts'

test('files keep their modes in the cache, whether its file system shares blocks or not', async () => {
  using folder = newFolder()
  const [from, to] = [join(folder.path, 'from'), join(folder.path, 'to')]
  for (const path of [from, to]) mkdirSync(path)
  const text = 'x'.repeat(100_000)
  const modes = { program: 0o755, disk: 0o600, open: 0o777 }
  for (const [name, mode] of Object.entries(modes)) {
    writeFileSync(join(from, name), text)
    chmodSync(join(from, name), mode)
  }
  const files = Object.keys(modes).map(name => ({ name, size: text.length, sha256: hash('sha256', text) }))
  expect(await copyVerified(files, from, to, { signal: undefined, onProgress: () => {} })).toBeUndefined()
  const kept = Object.keys(modes).map(name => (statSync(join(to, name)).mode & 0o777).toString(8))
  expect(kept).toEqual(['755', '600', '755'])
})
