import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { at, registerPack } from '../../functions/catalog/packs.ts'
import { test } from '../../support/harness.ts'

const name = 'win11-arm64-24.2'
const alias = {
  catalog_id: 'alias',
  version: '1',
  architecture: 'arm64',
  type: 'qemu',
  provider: { type: 'local-storage', meta: {} },
  path: 'win11',
  pack_filename: `${name}.pdpack`,
  metadata_filename: `${name}.meta`,
}
const other = {
  as: [
    'CREATE_CATALOG_MANIFEST',
    'LIST_CATALOG_MANIFEST',
    'UPDATE_CATALOG_MANIFEST',
    'PULL_CATALOG_MANIFEST',
    'CREATE_VM',
  ],
}
const place = at('alias', '1', 'arm64')

describe('a manifest that names the objects of another one', () => {
  test('gives no access to hidden objects, whichever of the two was registered first', async ({ call, folder }) => {
    expect((await call('POST', '/api/v1/catalog', { ...other, body: alias })).status).toBe(200)
    await registerPack(call, folder, { required_claims: ['SECRETCLAIM'], pack: 'a hidden pack' })
    expect((await call('GET', at('win11'), other)).status).toBe(404)
    for (const part of ['pack', 'metadata', 'pieces'])
      expect((await call('GET', `${place}/download?content=${part}`, other)).status, part).toBe(403)
    const pulled = await call('PUT', '/api/v1/catalog/pull', {
      ...other,
      body: { catalog_id: 'alias', version: '1', architecture: 'arm64', machine_name: 'thief' },
    })
    expect(pulled.status).toBe(403)
    const before = readFileSync(join(folder, `catalog/win11/${name}.meta`), 'utf8')
    const described = await call('PATCH', `${place}/tags`, { ...other, body: { tags: ['mine'] } })
    expect(described.status).toBe(403)
    expect(readFileSync(join(folder, `catalog/win11/${name}.meta`), 'utf8')).toBe(before)
  })

  test('does not block access to objects with the name of the caller’s own manifest', async ({ call, folder }) => {
    const hidden = { ...alias, required_claims: ['OF_NOBODY'] }
    expect((await call('POST', '/api/v1/catalog', { body: hidden })).status).toBe(200)
    const mine = { as: ['CREATE_CATALOG_MANIFEST', 'LIST_CATALOG_MANIFEST', 'UPDATE_CATALOG_MANIFEST'] }
    await registerPack(call, folder)
    const own = at('win11', '24.2', 'arm64')
    expect((await call('GET', `${own}/download?content=pack`, mine)).status).toBe(200)
    expect((await call('PATCH', `${own}/tags`, { ...mine, body: { tags: ['mine'] } })).status).toBe(200)
    const again = { catalog_id: 'win11', version: '24.2', architecture: 'arm64', type: 'pvm', description: 'again' }
    expect((await call('POST', '/api/v1/catalog', { ...mine, body: again })).status).toBe(200)
  })

  test('does not block the owner’s push, even if it has written a description there', async ({ call }) => {
    const pack = 'demo-x86_64-1'
    const hidden = {
      ...alias,
      path: 'demo',
      architecture: 'x86_64',
      pack_filename: `${pack}.pdpack`,
      metadata_filename: `${pack}.meta`,
      required_claims: ['OF_NOBODY'],
    }
    expect((await call('POST', '/api/v1/catalog', { body: hidden })).status).toBe(200)
    expect((await call('PATCH', `${at('alias', '1', 'x86_64')}/tags`, { body: { tags: ['mine'] } })).status).toBe(200)
    await call('POST', '/api/v1/machines', { body: { name: 'source', cpus: 1, memory: 16, disks: [{ size: 1 }] } })
    const mine = { as: ['PUSH_CATALOG_MANIFEST', 'LIST_CATALOG_MANIFEST', 'PULL_CATALOG_MANIFEST', 'CREATE_VM'] }
    const body = { catalog_id: 'demo', version: '1', connection: 'provider=local-storage', uuid: 'source' }
    for (const _ of ['first', 'again']) {
      const pushed = await call('POST', '/api/v1/catalog/push', { ...mine, body })
      expect(pushed.status, pushed.body.message).toBe(200)
    }
    expect((await call('GET', `${at('demo', '1', 'x86_64')}/download?content=pack`, mine)).status).toBe(200)
    const pulled = await call('PUT', '/api/v1/catalog/pull', {
      ...mine,
      body: { catalog_id: 'demo', version: '1', architecture: 'x86_64', machine_name: 'copy' },
    })
    expect(pulled.status, pulled.body.message).toBe(200)
  })
})
