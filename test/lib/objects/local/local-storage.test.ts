import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createLocalStorage } from '#lib/objects/local/local-storage.ts'
import { createHostStorages } from '#lib/objects/host-storages.ts'
import { providerContract } from '../../../contracts/provider.ts'
import { anyFile } from '../../../support/host-files.ts'

describe('local storage', () => {
  let folder: string
  let root: string
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'vmhost-catalog-'))
    root = join(folder, 'catalog')
  })
  afterEach(() => rmSync(folder, { recursive: true }))

  const open = () => createLocalStorage(root)
  providerContract(open, open, 1024 * 1024, { keepsSha256: false })

  const source = (text: string) => ({ size: text.length, read: () => new Blob([text]).stream() })
  /** Creates the partial file that a killed write of an object leaves; its name ends in a digest or a random id. */
  const leave = (object: string, ending: string, days = 0): string => {
    const name = `.vmhost-${object}.${ending}`
    writeFileSync(join(root, 'a', name), 'left')
    const then = new Date(Date.now() - days * 86_400_000)
    utimesSync(join(root, 'a', name), then, then)
    return name
  }
  const digest = 'ab'.repeat(32)

  test('a write and a removal delete the partial files that killed writes of the object have left', async () => {
    for (const end of ['write', 'remove'] as const) {
      const provider = await createLocalStorage(root)
      await provider.write('a/b', source('x'))
      leave('b', crypto.randomUUID())
      leave('b', digest)
      const kept = [leave('b.c', digest), leave('bb', digest), leave('c', crypto.randomUUID(), 6)]
      leave('long.ago', digest, 8)
      if (end === 'write') await provider.write('a/b', source('y'))
      else await provider.remove('a/b')
      expect(readdirSync(join(root, 'a')).sort()).toEqual([...kept, ...(end === 'write' ? ['b'] : [])].sort())
      rmSync(root, { recursive: true })
    }
  })

  test('removing an object that was never completed also removes its folder', async () => {
    const provider = await createLocalStorage(root)
    mkdirSync(join(root, 'a'))
    leave('b', digest)
    await provider.remove('a/b')
    expect(readdirSync(root)).toEqual([])
  })

  test('refuses a write of an object that another connection is writing', async () => {
    mkdirSync(join(root, 'a'), { recursive: true })
    symlinkSync('a', join(root, 'link'))
    const storages = createHostStorages({ folder: root, hostFiles: anyFile })
    const [one, other] = [
      await storages.open({ type: 'local-storage', meta: {} }),
      await storages.open({ type: 'local-storage', meta: { catalog_path: root } }),
    ]
    const go = Promise.withResolvers<void>()
    const slow = {
      size: 1,
      read: () =>
        new ReadableStream<Uint8Array>({
          async pull(controller) {
            await go.promise
            controller.enqueue(new Uint8Array([1]))
            controller.close()
          },
        }),
    }
    const writing = one.write('a/b', slow)
    await expect.poll(() => readdirSync(join(root, 'a')).length).toBe(1)
    for (const path of ['a/b', 'link/b'])
      await expect(other.write(path, source('x'))).rejects.toMatchObject({ fault: 'conflict' })
    await other.remove('a/b')
    go.resolve()
    await writing
    expect(readdirSync(join(root, 'a'))).toEqual(['b'])
  })

  test('follows no link out of its folder', async () => {
    const provider = await createLocalStorage(root)
    mkdirSync(join(folder, 'outside'))
    writeFileSync(join(folder, 'outside', 'secret'), 'secret')
    symlinkSync(join(folder, 'outside'), join(root, 'way'))
    symlinkSync(join(folder, 'outside', 'secret'), join(root, 'file'))
    for (const path of ['way/secret', 'file'])
      await expect(provider.read(path)).rejects.toMatchObject({ fault: 'forbidden' })
    await expect(provider.write('way/new', source('x'))).rejects.toMatchObject({ fault: 'forbidden' })
    await expect(provider.remove('way/secret')).rejects.toMatchObject({ fault: 'forbidden' })
    expect(readdirSync(join(folder, 'outside'))).toEqual(['secret'])
    const listed: string[] = []
    for await (const { path } of provider.list('')) listed.push(path)
    expect(listed).toEqual([])
    // A link with the name of an object is neither followed nor replaced.
    await expect(provider.write('file', source('x'))).rejects.toMatchObject({ fault: 'forbidden' })
    expect(lstatSync(join(root, 'file')).isSymbolicLink()).toBe(true)
  })

  test('neither replaces nor removes anything but files', async () => {
    const provider = await createLocalStorage(root)
    execFileSync('mkfifo', [join(root, 'pipe')])
    symlinkSync('loop', join(root, 'loop'))
    mkdirSync(join(root, 'folder'))
    for (const path of ['pipe', 'loop', 'folder']) {
      const before = lstatSync(join(root, path))
      for (const options of [{}, { replaces: null }])
        await expect(provider.write(path, source('x'), options), path).rejects.toMatchObject({ fault: 'forbidden' })
      if (path !== 'loop') await provider.remove(path)
      expect(lstatSync(join(root, path)), path).toMatchObject({ mode: before.mode, ino: before.ino })
      expect(readdirSync(root).toSorted()).toEqual(['folder', 'loop', 'pipe'])
    }
  })

  test('stores a hard link to a file that never changes, also when it is written twice', async () => {
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
