import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { createContentStore } from '#lib/catalog/contents.ts'
import { openCatalogContext } from '#lib/catalog/catalog.ts'
import { migrations } from '#lib/storage/migrations.ts'
import { createStartWorker } from '#lib/platform/workers.ts'
import { openStore } from '#lib/storage/open-store.ts'
import { at, register } from '../../functions/catalog/packs.ts'
import { newEventLog } from '../../support/events.ts'
import { test } from '../../support/harness.ts'

const file = { name: 'disk0.hdd', path: '/', is_dir: false, size: 7, hash: 'h' }
const other = { name: 'config.pvs', path: '/', is_dir: false, size: 1, hash: '' }

describe('the contents of manifests', () => {
  test('are shown, survive other changes, can be replaced, and are deleted with the manifest', async ({ call }) => {
    await register(call, { pack_contents: [file], virtual_machine_contents: [file, other] })
    const show = async () => (await call('GET', at('win11', '24.2', 'arm64'))).body[0]
    expect(await show()).toMatchObject({ pack_contents: [file], virtual_machine_contents: [file, other] })
    await call('PATCH', `${at('win11', '24.2', 'arm64')}/tags`, { body: { tags: ['gold'] } })
    await register(call, { description: 'again', pack_contents: [other] })
    expect(await show()).toMatchObject({ pack_contents: [other], virtual_machine_contents: [file, other] })
    expect((await call('GET', '/api/v1/catalog')).body).toEqual([await show()])
    await register(call, { pack_contents: [], virtual_machine_contents: [] })
    expect(await show()).toMatchObject({ pack_contents: [], virtual_machine_contents: [] })
    await register(call, { pack_contents: [file] })
    await call('DELETE', at('win11'))
    await register(call)
    expect(await show()).toMatchObject({ pack_contents: [] })
  })

  test('are not kept in memory', async ({ folder }) => {
    const place = join(folder, 'of-its-own')
    mkdirSync(place)
    await using store = await openStore({ folder: place })
    const { publish } = await newEventLog()
    const catalog = await openCatalogContext({
      store,
      publish,
      manifestsPerUser: 1,
      startWorker: createStartWorker(new URL('../../../lib/entry/main.ts', import.meta.url)),
      storages: {} as Parameters<typeof openCatalogContext>[0]['storages'],
    })
    const id = crypto.randomUUID()
    await store.commit([catalog.contents.put(id, { pack_contents: [file], virtual_machine_contents: [] })])
    expect(await catalog.contents.read({ id, has_contents: true })).toEqual({
      pack_contents: [file],
      virtual_machine_contents: [],
    })
    expect(JSON.stringify(await catalog.manifests.list())).not.toContain(file.name)
  })

  test('are found in a store of an earlier version', async ({ folder }) => {
    const place = join(folder, 'of-before')
    mkdirSync(place)
    const id = crypto.randomUUID()
    const before = JSON.stringify({ id, rev: 4, name: 'x', pack_contents: [file], virtual_machine_contents: [] })
    const rows = new Map([[`catalog-manifests:${id}`, before]])
    const [manifest, contents] = migrations.find(({ version }) => version === 3)!.migrate(rows)
    expect(JSON.parse(manifest!.value!)).toEqual({ id, rev: 4, name: 'x', has_contents: true })
    await (await openStore({ folder: place }))[Symbol.asyncDispose]()
    const step = { version: 4, name: 'the rows of before', migrate: () => [contents!] }
    await using store = await openStore({ folder: place, migrations: [...migrations, step] })
    expect(await createContentStore(store.texts('catalog-contents')).read({ id, has_contents: true })).toEqual({
      pack_contents: [file],
      virtual_machine_contents: [],
    })
  })
})
