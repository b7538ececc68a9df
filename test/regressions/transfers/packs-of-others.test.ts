import { hash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { formatConnection, type Storage } from '#lib/objects/port/connection.ts'
import { createLocalStorage } from '#lib/objects/local/local-storage.ts'
import { toSource } from '#lib/objects/port/bytes.ts'
import { type Call, test } from '../../support/harness.ts'
import { at, register, registerPack } from '../../functions/catalog/packs.ts'

const everything = [
  'LIST_CATALOG_MANIFEST',
  'CREATE_CATALOG_MANIFEST',
  'UPDATE_CATALOG_MANIFEST',
  'DELETE_CATALOG_MANIFEST',
  'PULL_CATALOG_MANIFEST',
  'IMPORT_CATALOG_MANIFEST',
]
const local: Storage = { type: 'local-storage', meta: {} }
const inFolder = (catalog_path: string): Storage => ({ type: 'local-storage', meta: { catalog_path } })
const hidden = { catalog_id: 'hidden', required_claims: ['VAULT'], provider: local }
const pack = 'hidden/hidden-arm64-24.2.pdpack'

describe('the pack of a manifest that somebody may not see', () => {
  const ways = [
    ['by its own path', () => ({ provider: local, path: '/hidden', pack_path: 'hidden-arm64-24.2.pdpack' })],
    [
      'by another folder',
      (folder: string) => ({
        provider: inFolder(join(folder, 'catalog/hidden')),
        path: '/',
        pack_path: 'hidden-arm64-24.2.pdpack',
      }),
    ],
    [
      'by a link',
      (folder: string) => ({
        provider: inFolder(join(folder, 'link')),
        path: '/hidden',
        pack_path: 'hidden-arm64-24.2.pdpack',
      }),
    ],
    ['as the folder around it', () => ({ provider: local, path: '/', pack_path: 'hidden', pack_relative_path: 'x' })],
  ] as const

  test.for(ways)('does not get into a manifest of theirs: %s', async ([, way], { call, folder }) => {
    await registerPack(call, folder, hidden)
    symlinkSync(join(folder, 'catalog'), join(folder, 'link'))
    const mine = { catalog_id: 'mine', version: '1', ...way(folder) }
    expect((await register(call, mine, { as: everything })).status).toBe(403)
    expect((await call('GET', at('mine'))).status).toBe(404)
    const { provider: _, ...without } = mine
    expect((await register(call, without, { as: everything })).status).toBe(200)
    const connection = formatConnection({ storage: mine.provider })
    const moved = await call('PATCH', `${at('mine', '1', 'arm64')}/connection`, {
      as: everything,
      body: { connection },
    })
    expect(moved.status).toBe(403)
  })

  test('is not imported, and nothing is written beside it', async ({ call, folder }) => {
    await registerPack(call, folder, hidden)
    const body = { catalog_id: 'mine', version: '1', architecture: 'arm64', connection: 'provider=local-storage' }
    for (const machine_remote_path of ['hidden', pack]) {
      const asked = { ...body, machine_remote_path, type: 'pvm', size: 1 }
      expect((await call('PUT', '/api/v1/catalog/import-vm', { as: everything, body: asked })).status).toBe(403)
    }
    expect(existsSync(join(folder, 'catalog/mine-arm64-1.meta'))).toBe(false)
  })
})

test('a deletion does not remove the objects of another manifest, however its storage is named', async ({
  call,
  folder,
}) => {
  await registerPack(call, folder, { ...hidden, required_claims: [] })
  const other = { type: 'local-storage', meta: { catalog_path: join(folder, 'catalog'), access_key: 'another' } }
  await register(call, {
    catalog_id: 'mine',
    provider: other,
    path: '/hidden',
    pack_path: 'hidden-arm64-24.2.pdpack',
    metadata_path: 'hidden-arm64-24.2.meta',
  })
  await register(call, {
    catalog_id: 'around',
    provider: local,
    path: '/',
    pack_path: 'hidden',
    pack_relative_path: 'x',
  })
  for (const id of ['mine', 'around']) expect((await call('DELETE', at(id))).status).toBe(202)
  expect(readFileSync(join(folder, 'catalog', pack), 'utf8')).toBe('the bytes of a pack')
  expect(existsSync(join(folder, 'catalog/hidden/hidden-arm64-24.2.meta'))).toBe(true)
  expect((await call('DELETE', at('hidden'))).status).toBe(202)
  expect(existsSync(join(folder, 'catalog', pack))).toBe(false)
})

describe('the state folder', () => {
  const plant = (folder: string): void => {
    mkdirSync(join(folder, 'state/tls'), { recursive: true })
    writeFileSync(join(folder, 'state/tls/key.pem'), 'the private key')
  }
  const registerKey = (call: Call, folder: string) =>
    register(call, {
      catalog_id: 'mine',
      version: '1',
      provider: { type: 'local-storage', meta: { catalog_path: folder } },
      path: '/state/tls',
      pack_path: 'key.pem',
    })

  test('cannot be read through a storage on its parent folder', async ({ call, folder }) => {
    plant(folder)
    expect((await registerKey(call, folder)).status).toBe(200)
    const { status, body } = await call('GET', `${at('mine', '1', 'arm64')}/download?content=pack`)
    expect(status).toBe(403)
    expect(JSON.stringify(body)).not.toContain('the private key')
  })

  test('cannot be deleted, listed or written through that storage', async ({ call, folder }) => {
    plant(folder)
    await registerKey(call, folder)
    await call('DELETE', at('mine'))
    const import_vm = {
      catalog_id: 'state',
      version: '1',
      architecture: 'arm64',
      type: 'pvm',
      size: 1,
      connection: `provider=local-storage;catalog_path=${folder}`,
    }
    for (const machine_remote_path of ['state', 'state/tls', 'state/tls/key.pem'])
      await call('PUT', '/api/v1/catalog/import-vm', { body: { ...import_vm, machine_remote_path } })
    await call('DELETE', at('state'))
    expect(readFileSync(join(folder, 'state/tls/key.pem'), 'utf8')).toBe('the private key')
    expect(existsSync(join(folder, 'state/state-arm64-1.meta'))).toBe(false)
  })
})

test('a link in place of an unfinished write is not followed', async ({ folder }) => {
  const [root, victim] = [join(folder, 'root'), join(folder, 'victim')]
  const storage = await createLocalStorage(root)
  const bytes = Buffer.from('more')
  const sha256 = hash('sha256', bytes)
  writeFileSync(victim, 'mo')
  symlinkSync(victim, join(root, `.vmhost-object.${sha256}`))
  await expect(storage.write('object', toSource(bytes), { sha256 })).rejects.toMatchObject({
    fault: 'forbidden',
  })
  expect(readFileSync(victim, 'utf8')).toBe('mo')
})
