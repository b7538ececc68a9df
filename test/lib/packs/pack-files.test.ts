import { createServer } from 'node:net'
import { chmodSync, mkdirSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { listPackFiles } from '#lib/packs/pack-files.ts'
import { newFolder } from '../../support/folder.ts'

describe('the files of a machine', () => {
  test('are listed at every depth, sorted, with their attributes', async () => {
    using folder = newFolder()
    mkdirSync(join(folder.path, 'b/c'), { recursive: true })
    for (const name of ['b/c/disk', 'b.x', 'a', 'Z']) writeFileSync(join(folder.path, name), name)
    chmodSync(join(folder.path, 'a'), 0o640)
    const files = await listPackFiles(folder.path)
    expect(files.map(({ name }) => name)).toEqual(['Z', 'a', 'b.x', 'b/c/disk'])
    const { mtime } = statSync(join(folder.path, 'a'))
    const [, file] = files
    expect(file).toMatchObject({ name: 'a', path: join(folder.path, 'a'), size: 1, mode: 0o640, modifiedAt: mtime })
  })

  test('do not include excluded files, folders, links and sockets', async () => {
    using folder = newFolder()
    mkdirSync(join(folder.path, 'logs'))
    symlinkSync('nowhere', join(folder.path, 'logs/link'))
    for (const name of ['keep', 'run.pid']) writeFileSync(join(folder.path, name), '')
    const server = createServer().listen(join(folder.path, 'qmp.sock'))
    try {
      await new Promise(resolve => server.once('listening', resolve))
      const out = new Set(['logs', 'qmp.sock', 'run.pid'])
      expect((await listPackFiles(folder.path, name => out.has(name))).map(({ name }) => name)).toEqual(['keep'])
      await expect(listPackFiles(folder.path, name => name === 'logs')).rejects.toThrow(/qmp\.sock is neither/)
    } finally {
      server.close()
    }
  })

  test('cannot be links', async () => {
    using folder = newFolder()
    mkdirSync(join(folder.path, 'deep'))
    symlinkSync('/etc/passwd', join(folder.path, 'deep/link'))
    await expect(listPackFiles(folder.path)).rejects.toMatchObject({
      fault: 'invalid',
      message: expect.stringContaining('deep/link is a link'),
    })
  })

  test.each([
    ['differ by case only', ['disk', 'Disk']],
    ['are the same in another form of Unicode', ['caf\u00e9', 'cafe\u0301']],
    ['have a line break', ['a\nb']],
    ['belong to the service', ['.vmhost-part.x']],
  ])('cannot have names that %s', async (_, names) => {
    using folder = newFolder()
    for (const name of names) writeFileSync(join(folder.path, name), '')
    // On a file system without case the two are one file.
    if (readdirSync(folder.path).length < names.length) return
    await expect(listPackFiles(folder.path)).rejects.toMatchObject({ fault: 'invalid' })
  })

  test('cannot have names that are not UTF-8', async () => {
    using folder = newFolder()
    try {
      writeFileSync(Buffer.concat([Buffer.from(`${folder.path}/`), Buffer.from([0x63, 0xe9])]), '')
    } catch {
      return // Some file systems refuse such names themselves.
    }
    await expect(listPackFiles(folder.path)).rejects.toMatchObject({ fault: 'invalid' })
  })

  test('are an empty list for an empty folder', async () => {
    using folder = newFolder()
    expect(await listPackFiles(folder.path)).toEqual([])
  })
})
