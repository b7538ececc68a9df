import { mkdirSync, readFileSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { isFault, ServiceError } from '#lib/errors.ts'
import { unpackTar } from '#lib/packs/tar/unpack-tar.ts'
import { newFolder } from '../../support/folder.ts'
import { archives, limits } from './hostile-archives.ts'
import { end, entry, streamOf, tar } from './raw-tar.ts'

describe('a hostile or damaged pack', () => {
  test(`is refused with a reason and writes nothing outside: ${Object.keys(archives).length} of them`, async () => {
    expect(Object.keys(archives).length).toBeGreaterThanOrEqual(200)
    using folder = newFolder()
    const outside = join(folder.path, 'outside')
    mkdirSync(outside)
    writeFileSync(join(outside, 'keep'), 'kept')
    const wrong: string[] = []
    let number = 0
    for (const [name, bytes] of Object.entries(archives)) {
      const root = join(folder.path, 'roots', `${number++}`, 'root')
      mkdirSync(root, { recursive: true })
      const unpacked = await unpackTar(streamOf(bytes), root, { limits }).catch((error: unknown) => error)
      if (!isFault(unpacked, 'invalid') || !/^.{20,500}$/.test(unpacked.message) || /\p{C}/u.test(unpacked.message))
        wrong.push(`${name}: ${String(unpacked)}`)
      if (readdirSync(join(root, '..')).join() !== 'root') wrong.push(`${name} wrote beside its root`)
      const inside = readdirSync(root, { recursive: true, withFileTypes: true })
      if (inside.some(one => !one.isFile() && !one.isDirectory())) wrong.push(`${name} made something special`)
    }
    expect(wrong).toEqual([])
    expect(readdirSync(folder.path).toSorted()).toEqual(['outside', 'roots'])
    expect(readdirSync(join(folder.path, 'roots')).length).toBe(number)
    expect(readdirSync(outside)).toEqual(['keep'])
    expect(readFileSync(join(outside, 'keep'), 'utf8')).toBe('kept')
  })

  test('does not follow a link that is already in the folder', async () => {
    using folder = newFolder()
    const [root, outside] = [join(folder.path, 'root'), join(folder.path, 'outside')]
    mkdirSync(root)
    mkdirSync(outside)
    symlinkSync(outside, join(root, 'way'))
    symlinkSync(join(outside, 'new'), join(root, 'file'))
    for (const name of ['way/x', 'file'])
      await expect(unpackTar(streamOf(tar(entry({ name, content: 'x' }))), root, { limits })).rejects.toThrow('EEXIST')
    expect(readdirSync(outside)).toEqual([])
  })

  test('has another error than a stream that fails', async () => {
    using folder = newFolder()
    for (const start of [tar(entry({})), gzipSync(tar(entry({ content: 'x'.repeat(5000) }))).subarray(0, 30)]) {
      const parts = [start.subarray(0, 20), undefined]
      const stream = new ReadableStream<Uint8Array>({
        pull(controller) {
          const part = parts.shift()
          if (part) controller.enqueue(part)
          else controller.error(new ServiceError('upstream', 'The provider went away.'))
        },
      })
      await expect(unpackTar(stream, folder.path, { limits })).rejects.toMatchObject({ fault: 'upstream' })
    }
  })

  test('may have unusual names that do no harm', async () => {
    using folder = newFolder()
    const names = ['CON', 'aux.txt', 'LPT1', 'C:x', '...', '..a', '-rf', '~', '$(x)', ' ', 'a b', 'vmhost-x', '日本語']
    const bytes = tar(...names.map(name => entry({ name, content: name })))
    await unpackTar(streamOf(bytes), folder.path, { limits })
    expect(readdirSync(folder.path).toSorted()).toEqual(names.toSorted())
  })

  test('cannot give files modes beyond 755', async () => {
    using folder = newFolder()
    await unpackTar(streamOf(tar(entry({ mode: '0007777' }))), folder.path, { limits })
    expect(statSync(join(folder.path, 'file')).mode & 0o7777).toBe(0o755)
  })

  test('is complete when a full record follows its end mark', async () => {
    using folder = newFolder()
    const bytes = Buffer.concat([entry({ content: 'x' }), end, Buffer.alloc(9216)])
    expect(await unpackTar(streamOf(bytes), folder.path, { limits })).toHaveLength(1)
  })
})
