import { expect } from 'vitest'
import { apiKey, test } from '../../functions/catalog-managers/remote-catalog.ts'
import type { Call } from '../../support/harness.ts'

const as = [
  ...['LIST', 'CREATE', 'PUSH', 'IMPORT'].map(action => `CATALOG_MANAGER_${action}_CATALOG_MANIFEST_OWN`),
  'CATALOG_MANAGER_CREATE_OWN',
]
const manager = async (call: Call, url: string): Promise<string> => {
  const { body } = await call('POST', '/api/v1/catalog-managers', { as, body: { name: 'QA', url, api_key: apiKey } })
  return `/api/v1/catalog-managers/${body.id}/catalog`
}
const manifest = (catalog_id: string, version: string, more: object = {}) => {
  const name = `${catalog_id}-arm64-${version}`
  return { catalog_id, name, version, architecture: 'arm64', ...more }
}
const hidden = { required_claims: ['HIDDEN'] }

test.for([' 1.0', '1.0 ', '1.0'])(
  'no spelling of a version gets around what is hidden: %j',
  async (version, { call, remote }) => {
    const path = await manager(call, remote.url)
    remote.manifests = [manifest('mixed', '1.0', hidden), manifest('mixed', '2')]
    for (const [method, action] of [
      ['POST', ''],
      ['PUT', '/import'],
      ['PUT', '/import-vm'],
    ] as const)
      expect((await call(method, `${path}${action}`, { as, body: manifest('mixed', version) })).status, action).toBe(
        409,
      )
    expect((await call('POST', path, { as, body: manifest('mixed', '3') })).status).toBe(200)
  },
)

test('a caller who may not see an id cannot add a version to it', async ({ call, remote }) => {
  const path = await manager(call, remote.url)
  remote.manifests = [manifest('hidden', '1', hidden)]
  for (const [method, action] of [
    ['POST', ''],
    ['PUT', '/import'],
    ['PUT', '/import-vm'],
  ] as const)
    expect((await call(method, `${path}${action}`, { as, body: manifest('hidden', '2') })).status, action).toBe(409)
  await call('POST', '/api/v1/machines', { body: { name: 'source', cpus: 1, memory: 16, disks: [{ size: 1 }] } })
  const connection = 'provider=minio;bucket=packs;endpoint=http://127.0.0.1:1;access_key=a;secret_key=b'
  const body = { catalog_id: 'hidden', version: '2', architecture: 'arm64', uuid: 'source', connection }
  expect((await call('POST', `${path}/push`, { as, body })).status).toBe(409)
})

test('the credentials of another catalog’s storage are not passed on', async ({ call, remote }) => {
  const path = await manager(call, remote.url)
  const meta = { bucket: 'packs', endpoint: 'http://s3.example', secret_key: 'the-secret-key', access_key: 'ab****yz' }
  const provider = { type: 'minio', password: 'the-secret-password', meta }
  remote.manifests = [manifest('open', '1', { provider })]
  const registered = await call('POST', path, { as, body: manifest('open', '2', { provider }) })
  const answers = [
    registered,
    ...(await Promise.all(['', '/open/1', '/open/1/arm64/download'].map(at => call('GET', path + at, { as })))),
  ]
  for (const { status, body } of answers) {
    expect(status).toBe(200)
    expect(JSON.stringify(body)).not.toContain('the-secret')
    const masked = { bucket: 'packs', endpoint: 'http://s3.example', secret_key: 'th****ey', access_key: 'ab****yz' }
    expect(body[0].provider).toEqual({ type: 'minio', password: 'th****rd', meta: masked })
  }
})
