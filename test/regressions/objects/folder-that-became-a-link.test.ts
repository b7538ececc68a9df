import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { Worker } from 'node:worker_threads'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createLocalStorage } from '#lib/objects/local/local-storage.ts'
import { toSource } from '#lib/objects/port/bytes.ts'
import type { Provider } from '#lib/objects/port/provider.ts'
import { createHostStorages } from '#lib/objects/host-storages.ts'
import { openHostFiles } from '#lib/platform/host-files.ts'

/** Replaces a folder by a link and back again, until it is terminated. Removes what a write has created in between. */
const exchange = `
const { renameSync, rmSync } = require('node:fs')
const { folder, link } = require('node:worker_threads').workerData
const put = (from, to) => {
  for (;;)
    try {
      return renameSync(from, to)
    } catch {
      try { rmSync(to, { recursive: true, force: true }) } catch {}
    }
}
for (;;) {
  put(folder, folder + '.aside')
  put(link, folder)
  put(folder, link)
  put(folder + '.aside', folder)
}`

/** The content of a folder: paths, and the content of the files. */
const contentOf = (folder: string): Record<string, string> =>
  Object.fromEntries(
    readdirSync(folder, { withFileTypes: true, recursive: true }).map(entry => {
      const path = join(entry.parentPath, entry.name)
      return [path, entry.isFile() ? readFileSync(path, 'utf8') : 'no file']
    }),
  )

describe.runIf(process.platform === 'linux')(
  'a folder of local storage that is replaced by a link out of the storage',
  () => {
    const tries = 500
    let home: string
    let root: string
    let outside: string
    let swapping: Worker
    beforeEach(() => {
      home = realpathSync(mkdtempSync(join(tmpdir(), 'vmhost-swapped-')))
      root = join(home, 'root')
      outside = join(home, 'outside')
      for (const [folder, word] of [
        [join(root, 'way'), 'mine'],
        [outside, 'hers'],
      ] as const) {
        mkdirSync(join(folder, 'empty'), { recursive: true })
        writeFileSync(join(folder, 'object'), word)
      }
      symlinkSync(outside, join(home, 'link'))
      swapping = new Worker(exchange, {
        eval: true,
        workerData: { folder: join(root, 'way'), link: join(home, 'link') },
      })
    })
    afterEach(async () => {
      await swapping.terminate()
      rmSync(home, { recursive: true })
    })

    const source = toSource(Buffer.from('mine'))
    const read = async (provider: Provider, path: string): Promise<void> => {
      const words = await provider.read(path).then(text, () => 'mine')
      if (words !== 'mine') throw new Error(`It read ${words}.`)
    }
    /** Repeats an access and fails as soon as anything outside was changed. */
    const tryOften = async (work: (time: number) => Promise<void>): Promise<void> => {
      const before = contentOf(outside)
      for (let time = 0; time < tries; time += 1) {
        await work(time)
        if (time % 10 === 0) expect(contentOf(outside)).toEqual(before)
      }
      expect(contentOf(outside)).toEqual(before)
    }
    /** Errors of the system and the storage are expected while the folder is replaced. */
    const ignore = (): void => undefined

    test('its files are not read', async () => {
      const provider = await createLocalStorage(root)
      await tryOften(() => read(provider, 'way/object'))
    })

    test('is not read as the root of a storage', async () => {
      const hostFiles = await openHostFiles({ allowed: [root], folders: [], except: [], files: () => [] })
      await tryOften(async () => {
        const storages = createHostStorages({ folder: join(home, 'none'), hostFiles })
        const meta = { catalog_path: join(root, 'way') }
        const provider = await storages.open({ type: 'local-storage', meta }).catch(ignore)
        if (provider) await read(provider, 'object')
      })
    })

    test('no file is written through it', async () => {
      const provider = await createLocalStorage(root)
      await tryOften(() => provider.write('way/object', source).catch(ignore))
    })

    test('no folder is created through it', async () => {
      const provider = await createLocalStorage(root)
      await tryOften(time => provider.write(`way/new-${time}/object`, source).catch(ignore))
    })

    test('no file is removed through it', async () => {
      const provider = await createLocalStorage(root)
      await tryOften(() => provider.remove('way/object').catch(ignore))
    })

    test('no folder is removed through it', async () => {
      const provider = await createLocalStorage(root)
      await tryOften(async () => {
        await provider.write('way/empty/object', source).catch(ignore)
        await provider.remove('way/empty/object').catch(ignore)
      })
    })
  },
)
