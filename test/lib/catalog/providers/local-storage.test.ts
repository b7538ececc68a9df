import { createHash } from 'node:crypto'
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createLocalStorage } from '#lib/catalog/providers/local-storage.ts'
import { providerContract } from '../../../contracts/provider.ts'

describe('local storage', () => {
  let folder: string
  let root: string
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'vmhost-catalog-'))
    root = join(folder, 'catalog')
  })
  afterEach(() => rmSync(folder, { recursive: true }))

  providerContract(() => createLocalStorage(root), 1024 * 1024)

  test('follows no link out of its folder', async () => {
    const provider = await createLocalStorage(root)
    mkdirSync(join(folder, 'outside'))
    writeFileSync(join(folder, 'outside', 'secret'), 'secret')
    symlinkSync(join(folder, 'outside'), join(root, 'way'))
    symlinkSync(join(folder, 'outside', 'secret'), join(root, 'file'))
    const source = { size: 1, read: () => new Blob(['x']).stream() }
    for (const path of ['way/secret', 'file'])
      await expect(provider.read(path)).rejects.toMatchObject({ fault: 'forbidden' })
    await expect(provider.write('way/new', source)).rejects.toMatchObject({ fault: 'forbidden' })
    await expect(provider.remove('way/secret')).rejects.toMatchObject({ fault: 'forbidden' })
    expect(readdirSync(join(folder, 'outside'))).toEqual(['secret'])
    const listed: string[] = []
    for await (const { path } of provider.list('')) listed.push(path)
    expect(listed).toEqual([])
    // A link in the place of an object is replaced, not followed.
    await provider.write('file', source)
    expect(await provider.stat('file')).toMatchObject({ size: 1 })
  })

  test('a file that never changes gets another name in place of a copy, also twice', async () => {
    const provider = await createLocalStorage(root)
    const file = join(folder, 'pack')
    writeFileSync(file, 'a pack')
    const source = { size: 6, file, read: () => new Blob(['a pack']).stream() }
    const sha256 = createHash('sha256').update('a pack').digest('hex')
    const seen: number[] = []
    for (let time = 0; time < 2; time += 1)
      await provider.write('demo/pack', source, { sha256, onProgress: bytes => void seen.push(bytes) })
    expect(statSync(join(root, 'demo/pack')).ino).toBe(statSync(file).ino)
    expect(readdirSync(join(root, 'demo'))).toEqual(['pack'])
    expect(seen).toEqual([6, 6])
    rmSync(file)
    expect(readFileSync(join(root, 'demo/pack'), 'utf8')).toBe('a pack')
  })
})
