import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempDisposableSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readStateFile } from '#lib/platform/open-file.ts'

test('a file of the state is read; a pipe, a folder and a link are refused at once, and nothing is undefined', async () => {
  using folder = mkdtempDisposableSync(join(tmpdir(), 'vmhost-test-'))
  const at = (name: string): string => join(folder.path, name)
  writeFileSync(at('file'), 'text')
  symlinkSync(at('file'), at('link'))
  mkdirSync(at('folder'))
  execFileSync('mkfifo', [at('pipe')])

  expect(await readStateFile(at('file'))).toBe('text')
  expect(await readStateFile(at('nothing'))).toBeUndefined()
  await expect(readStateFile(at('pipe'))).rejects.toThrow('not a regular file')
  await expect(readStateFile(at('folder'))).rejects.toThrow('cannot be used')
  await expect(readStateFile(at('link'))).rejects.toThrow('cannot be used')
})
