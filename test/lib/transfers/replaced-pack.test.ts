import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { Principal } from '#lib/access/principal.ts'
import { openCatalogContext } from '#lib/catalog/catalog.ts'
import { createDigest } from '#lib/packs/digest.ts'
import { listPackFiles } from '#lib/packs/pack-files.ts'
import { packTar } from '#lib/packs/tar/pack-tar.ts'
import { readBytes } from '#lib/async/read-bytes.ts'
import { toSource } from '#lib/objects/port/bytes.ts'
import { createLocalStorage } from '#lib/objects/local/local-storage.ts'
import type { Provider } from '#lib/objects/port/provider.ts'
import { registerManifest } from '#lib/catalog/register.ts'
import { RegisterManifest } from '#lib/catalog/schemas.ts'
import type { TransferContext } from '#lib/transfers/context.ts'
import { createDownloads } from '#lib/transfers/download/downloads.ts'
import { pullManifest } from '#lib/transfers/pull.ts'
import { PullManifest } from '#lib/transfers/schemas.ts'
import { createHostStorages } from '#lib/objects/host-storages.ts'
import { openWorkFolders } from '#lib/platform/work-folders.ts'
import { createStartWorker } from '#lib/platform/workers.ts'
import { noProgress } from '#lib/async/progress.ts'
import { newEventLog } from '../../support/events.ts'
import { newFolder } from '../../support/folder.ts'
import { anyFile } from '../../support/host-files.ts'

const caller: Principal = {
  id: 'tester',
  username: 'tester',
  email: '',
  roles: [],
  claims: new Set(),
  superUser: true,
}

/** A catalog on local storage, and a host that pulls from it into folders; `before` comes before each call of the provider. */
const open = async (root: string, before: (call: 'stat' | 'read', path: string) => Promise<void>) => {
  const storage = await createLocalStorage(join(root, 'catalog'))
  const provider: Provider = {
    ...storage,
    async stat(path, signal) {
      await before('stat', path)
      return storage.stat(path, signal)
    },
    async read(path, options) {
      await before('read', path)
      return storage.read(path, options)
    },
  }
  const { store, publish } = await newEventLog()
  const catalog = await openCatalogContext({
    store,
    publish,
    startWorker: createStartWorker(new URL('../../../lib/entry/main.ts', import.meta.url)),
    manifestsPerUser: 10,
    storages: {
      ...createHostStorages({ folder: root, hostFiles: anyFile }),
      open: async () => provider,
    },
  })
  const folders = await openWorkFolders(join(root, 'transfers'))
  const context = {
    catalog,
    machines: {
      checkName() {},
      async import({ name }: { name: string }, fill: (folder: string) => Promise<void>) {
        const home = join(root, `machine${readdirSync(root).length}`)
        mkdirSync(home)
        await fill(home)
        return { id: name, name, home }
      },
    },
    folders,
    downloads: createDownloads(folders),
    cache: { restore: async () => undefined, keep: async () => undefined },
    architecture: 'x86_64',
    machineType: 'embedded',
    trust: { policy: 'off', keys: [] },
  } as unknown as TransferContext

  /** As a push does it: the pack comes before the record, and what that led to goes after it. */
  const push = async (content: string): Promise<void> => {
    using folder = newFolder()
    writeFileSync(join(folder.path, 'disk'), content)
    const pack = await readBytes(
      packTar(await listPackFiles(folder.path), { kind: 'none' }),
      2 ** 20,
      () => new Error(),
    )
    const digest = createDigest(2 ** 20)
    digest.update(pack)
    const { sha256 } = digest.end()
    const [old] = catalog.inventory.listVersions('demo')
    await storage.write(`demo/${sha256}`, toSource(pack))
    const manifest = {
      catalog_id: 'demo',
      version: '1',
      architecture: 'x86_64',
      type: 'embedded',
      provider: { type: 'local-storage', meta: {} },
      path: '/demo',
      pack_filename: sha256,
      pack_sha256: sha256,
    }
    await registerManifest(catalog, caller, RegisterManifest.parse(manifest))
    if (old) await storage.remove(`demo/${old.pack_filename}`)
  }
  const pull = async () => {
    const request = PullManifest.parse({ catalog_id: 'demo', version: '1', machine_name: 'copy' })
    const { local_path: home, manifest } = await pullManifest(context, caller, request, noProgress)
    return { disk: readFileSync(join(home, 'disk'), 'utf8'), pack: manifest.pack_filename }
  }
  return { push, pull, catalog, storage }
}

describe('a pack that a push replaces while it is pulled', () => {
  test.each(['stat', 'read'] as const)('just before its %s: the new one is pulled', async moment => {
    using root = newFolder()
    let replaced = 0
    const { push, pull, catalog } = await open(root.path, async call => {
      if (call !== moment || replaced === 2) return
      replaced += 1
      await push(`disk ${replaced}`)
    })
    await push('the first disk')
    expect(await pull()).toEqual({ disk: 'disk 2', pack: catalog.inventory.listVersions('demo')[0]!.pack_filename })
    expect(replaced).toBe(2)
    expect(readdirSync(join(root.path, 'transfers'))).toEqual([])
  })

  test('that is missing for another reason is not requested again', async () => {
    using root = newFolder()
    const calls: string[] = []
    const { push, pull, catalog, storage } = await open(root.path, async call => void calls.push(call))
    await push('a disk')
    await storage.remove(`demo/${catalog.inventory.listVersions('demo')[0]!.pack_filename}`)
    await expect(pull()).rejects.toMatchObject({ fault: 'not-found' })
    expect(calls.filter(call => call === 'stat')).toHaveLength(1)
    expect(readdirSync(join(root.path, 'transfers'))).toEqual([])
  })
})
