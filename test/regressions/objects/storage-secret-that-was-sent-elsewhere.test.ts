import { http, HttpResponse } from 'msw'
import { expect } from 'vitest'
import { test } from '../../support/harness.ts'

const secret = 'the-key-of-the-real-artifactory'
const real = { type: 'artifactory', meta: { url: 'http://real.example', repo: 'packs', access_key: secret } }
const manifest = { catalog_id: 'win11', version: '1', architecture: 'x86_64', type: 'qemu', pack_path: 'win11.pdpack' }
const elsewhere = [{ url: 'http://elsewhere.example' }, { url: 'https://real.example' }, { repo: 'mine' }]

test.for(elsewhere)('a masked secret is not applied to another storage: %j', async (address, { call }) => {
  const first = await call('POST', '/api/v1/catalog', { body: { ...manifest, provider: real } })
  expect(first.status, first.body.message).toBe(200)
  const { provider } = first.body[0]
  expect(JSON.stringify(provider)).not.toContain(secret)
  const as = ['CREATE_CATALOG_MANIFEST']
  const moved = { ...provider, meta: { ...provider.meta, ...address } }
  const { status, body } = await call('POST', '/api/v1/catalog', { as, body: { ...manifest, provider: moved } })
  expect(status).toBe(400)
  expect(body.message).toContain('masked')
  const again = await call('POST', '/api/v1/catalog', { as, body: { ...manifest, provider } })
  expect(again.status).toBe(200)
})

test.for(elsewhere)(
  'a pull with another address does not send the stored secret there: %j',
  async (address, { call, network }) => {
    await call('POST', '/api/v1/catalog', { body: { ...manifest, provider: real } })
    const sent: string[] = []
    network.use(
      http.all('*', ({ request }) => {
        sent.push(JSON.stringify([...request.headers]))
        return new HttpResponse(undefined, { status: 404 })
      }),
    )
    const { status, body } = await call('PUT', '/api/v1/catalog/pull', {
      as: ['PULL_CATALOG_MANIFEST'],
      body: { catalog_id: 'win11', version: '1', machine_name: 'copy', provider_metadata: address },
    })
    expect(status).toBe(400)
    expect(body.message).toContain('needs')
    expect(sent.join()).not.toContain(secret)
  },
)

test('a secret in the address of a storage is masked', async ({ call }) => {
  const provider = { ...real, meta: { ...real.meta, url: `https://user:${secret}@real.example` } }
  const { body } = await call('POST', '/api/v1/catalog', { body: { ...manifest, provider } })
  expect(JSON.stringify(body)).not.toContain(secret)
})
