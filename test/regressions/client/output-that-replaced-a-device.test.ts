import { execFileSync } from 'node:child_process'
import { lstat, readdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { writeReply } from '#lib/entry/admin/write-reply.ts'
import { newFolder } from '../../support/folder.ts'

test('a reply is written into a pipe', async () => {
  using folder = newFolder()
  const pipe = join(folder.path, 'pipe')
  execFileSync('mkfifo', [pipe])
  const read = readFile(pipe, 'utf8')
  await writeReply({ a: 1 }, pipe)
  expect(JSON.parse(await read)).toEqual({ a: 1 })
  expect((await lstat(pipe)).isFIFO()).toBe(true)
})

test('the file of a link is replaced, and what was there under the name of an unfinished file stays', async () => {
  using folder = newFolder()
  const [file, link, other] = ['file', 'link', 'file.part'].map(name => join(folder.path, name)) as [
    string,
    string,
    string,
  ]
  await writeFile(file, 'before')
  await writeFile(other, 'of somebody else')
  await symlink(file, link)
  await writeReply('after', link)
  expect(await readFile(file, 'utf8')).toBe('after')
  expect(await readFile(other, 'utf8')).toBe('of somebody else')
  expect((await lstat(link)).isSymbolicLink()).toBe(true)
  const broken = new ReadableStream({ start: controller => controller.error(new Error('cut off')) })
  await expect(writeReply(broken, link)).rejects.toThrow('cut off')
  expect(await readFile(file, 'utf8')).toBe('after')
  expect((await readdir(folder.path)).toSorted()).toEqual(['file', 'file.part', 'link'])
})
