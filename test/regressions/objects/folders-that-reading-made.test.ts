import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { registerPack } from '../../functions/catalog/packs.ts'
import { test } from '../../support/harness.ts'

test('a pull creates no folders for local storage', async ({ call, folder }) => {
  await registerPack(call, folder, { type: 'qemu', provider: { type: 'local-storage' } })
  const catalog_path = join(folder, 'new/folder')
  const pull = { catalog_id: 'win11', version: '24.2', architecture: 'arm64', machine_name: 'copy' }
  for (const more of [
    { provider_metadata: { catalog_path } },
    { connection: `provider=local;catalog_path=${catalog_path}` },
  ]) {
    const { status } = await call('PUT', '/api/v1/catalog/pull', {
      as: ['PULL_CATALOG_MANIFEST'],
      body: { ...pull, ...more },
    })
    expect(status).toBe(404)
  }
  expect(existsSync(join(folder, 'new'))).toBe(false)
})

test('a push creates the folder of its local storage', async ({ call, folder }) => {
  await call('POST', '/api/v1/machines', { body: { name: 'source', cpus: 1, memory: 16, disks: [{ size: 1 }] } })
  const connection = `provider=local-storage;catalog_path=${join(folder, 'new/folder')}`
  const body = { catalog_id: 'demo', version: '1', connection, uuid: 'source' }
  expect((await call('POST', '/api/v1/catalog/push', { body })).status).toBe(200)
  expect(readdirSync(join(folder, 'new/folder/demo'))).toHaveLength(3)
  expect((await call('DELETE', '/api/v1/catalog/demo')).status).toBe(202)
  expect((await call('POST', '/api/v1/catalog/push', { body })).status).toBe(200)
})
