import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { createLocalStorage } from '#lib/catalog/providers/local-storage.ts'
import { sourceOfBytes } from '#lib/catalog/providers/bytes.ts'
import { at, register, registerPack } from '../functions/catalog/packs.ts'
import { test } from '../support/harness.ts'

const claims = ['CREATE_CATALOG_MANIFEST', 'LIST_CATALOG_MANIFEST', 'DELETE_CATALOG_MANIFEST']

test('what the system refuses in a folder of packs is the storage’s fault, and no defect', async ({ folder }) => {
  const root = join(folder, 'root')
  const storage = await createLocalStorage(root)
  writeFileSync(join(root, 'file'), '')
  mkdirSync(join(root, 'folder'))
  const bytes = sourceOfBytes(Buffer.from('bytes'))
  for (const path of ['file/inside', 'folder'])
    await expect(storage.write(path, bytes), path).rejects.toMatchObject({ fault: 'upstream' })
  await expect(createLocalStorage(join(root, 'file'))).rejects.toMatchObject({ fault: 'upstream' })
})

test('an object that is removed after it was looked at is not found', async ({ folder }) => {
  const root = join(folder, 'root')
  const storage = await createLocalStorage(root)
  for (let at = 0; at < 50; at += 1) {
    writeFileSync(join(root, 'object'), 'bytes')
    const reading = storage.read('object').then(stream => new Response(stream).text())
    setImmediate(() => rmSync(join(root, 'object'), { force: true }))
    const outcome = await reading.catch((error: unknown) => error)
    if (outcome !== 'bytes') expect(outcome).toMatchObject({ fault: 'not-found' })
  }
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
