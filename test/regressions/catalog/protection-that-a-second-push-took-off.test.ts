import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { test } from '../../support/harness.ts'

const manifest = { catalog_id: 'vault', version: '1', architecture: 'arm64' }
const guards = { required_claims: ['VAULT'], required_roles: ['KEEPER'] }

test.for(['', '/push'])(
  'what a manifest asks of its readers stays when it comes again without: %j',
  async (way, { call }) => {
    await call('POST', '/api/v1/machines', { body: { name: 'source', cpus: 1, memory: 16, disks: [{ size: 1 }] } })
    const send = async (more: object) => {
      const body = { ...manifest, connection: 'provider=local-storage', uuid: 'source', ...more }
      const { status, body: reply } = await call('POST', `/api/v1/catalog${way}`, { body })
      expect(status).toBe(200)
      return reply[0]
    }
    expect(await send(guards)).toMatchObject(guards)
    expect(await send({ description: 'again' })).toMatchObject(guards)
    expect(await send({ required_claims: null, required_roles: null })).toMatchObject(guards)
    expect(await send({ required_claims: [] })).toMatchObject({ ...guards, required_claims: [] })
  },
)

test('an import of a machine keeps the protection of an existing description', async ({ call, folder }) => {
  const place = join(folder, 'catalog/bundles')
  mkdirSync(join(place, 'mac.macvm'), { recursive: true })
  writeFileSync(join(place, 'mac.macvm/config.pvs'), 'config')
  writeFileSync(join(place, 'vault-arm64-1.meta'), JSON.stringify({ ...guards, tags: ['ci'] }))
  const { status, body } = await call('PUT', '/api/v1/catalog/import-vm', {
    body: { ...manifest, connection: 'provider=local-storage', machine_remote_path: 'bundles/mac.macvm', size: 6 },
  })
  expect(status, body.message).toBe(200)
  expect(body.manifest).toMatchObject({ ...guards, tags: ['ci', 'latest'] })
})
