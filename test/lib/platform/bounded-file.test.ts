import { mkdtempDisposableSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readBounded, readBoundedSync, readTail } from '#lib/platform/bounded-file.ts'
import { readStateFile } from '#lib/platform/open-file.ts'

test('a file within the bound is read, and a longer one is refused by its name', async () => {
  using folder = mkdtempDisposableSync(join(tmpdir(), 'vmhost-test-'))
  const file = join(folder.path, 'record')
  writeFileSync(file, 'four')
  expect(String(await readBounded(file, 4))).toBe('four')
  expect(String(readBoundedSync(file, 4))).toBe('four')
  expect(await readStateFile(file, 4)).toBe('four')

  writeFileSync(file, 'fives')
  const refusal = `${file} has 5 bytes, and such a file has at most 4 B.`
  await expect(readBounded(file, 4)).rejects.toThrow(refusal)
  expect(() => readBoundedSync(file, 4)).toThrow(refusal)
  await expect(readStateFile(file, 4)).rejects.toThrow(refusal)
})

test('of a long log the end is read, and a missing one is empty', async () => {
  using folder = mkdtempDisposableSync(join(tmpdir(), 'vmhost-test-'))
  const file = join(folder.path, 'log')
  writeFileSync(file, `${'x'.repeat(200_000)}\nthe last line\n`)
  const tail = await readTail(file)
  expect(tail.length).toBe(64 * 1024)
  expect(tail).toMatch(/\nthe last line\n$/)
  writeFileSync(file, 'short')
  expect(await readTail(file)).toBe('short')
  expect(await readTail(join(folder.path, 'nothing'))).toBe('')
})
