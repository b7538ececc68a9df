import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { createLocalStorage } from '#lib/objects/local/local-storage.ts'
import { toSource } from '#lib/objects/port/bytes.ts'
import { at, register, registerPack } from '../../functions/catalog/packs.ts'
import { test } from '../../support/harness.ts'

const claims = ['CREATE_CATALOG_MANIFEST', 'LIST_CATALOG_MANIFEST', 'DELETE_CATALOG_MANIFEST']

test('an error of the system in a folder of packs is an error of the storage, not a defect', async ({ folder }) => {
  const root = join(folder, 'root')
  const storage = await createLocalStorage(root)
  writeFileSync(join(root, 'file'), '')
  mkdirSync(join(root, 'folder'))
  const bytes = toSource(Buffer.from('bytes'))
  await expect(storage.write('file/inside', bytes)).rejects.toMatchObject({ fault: 'upstream' })
  await expect(storage.write('folder', bytes)).rejects.toMatchObject({ fault: 'forbidden' })
  await expect(createLocalStorage(join(root, 'file'))).rejects.toMatchObject({ fault: 'upstream' })
})

test('an object that is removed after a reader has opened it is read completely', async ({ folder }) => {
  const root = join(folder, 'root')
  const storage = await createLocalStorage(root)
  writeFileSync(join(root, 'object'), 'bytes')
  const stream = await storage.read('object')
  rmSync(join(root, 'object'))
  expect(await new Response(stream).text()).toBe('bytes')
})

test.for(['/dev/null/x', `/${'x'.repeat(5000)}`, 'relative'])(
  'a manifest whose folder cannot be one is in nobody’s way: %#',
  async (catalog_path, { call, folder }) => {
    const provider = { type: 'local-storage', meta: { catalog_path } }
    const broken = { catalog_id: 'broken', provider, path: '/x', pack_path: 'pack', required_claims: ['VAULT'] }
    expect((await register(call, broken)).status).toBe(200)
    expect((await registerPack(call, folder)).status).toBe(200)
    expect(
      (await register(call, { catalog_id: 'mine', provider: { type: 'local-storage' } }, { as: claims })).status,
    ).toBe(200)
    expect((await call('DELETE', at('win11'), { as: claims })).status).toBe(202)
    expect((await call('GET', `${at('broken', '24.2', 'arm64')}/download?content=pack`)).status).not.toBe(500)
    expect((await call('DELETE', `${at('broken')}?clean_remote=false`)).status).toBe(202)
  },
)
