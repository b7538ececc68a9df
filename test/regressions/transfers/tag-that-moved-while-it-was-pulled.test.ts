import { expect } from 'vitest'
import { apiKey, test } from '../../functions/catalog-managers/remote-catalog.ts'

const as = ['CATALOG_MANAGER_PULL_CATALOG_MANIFEST_OWN', 'CATALOG_MANAGER_CREATE_OWN']

test('a pull by a tag fetches the version that it has looked up', async ({ call, remote }) => {
  const { body } = await call('POST', '/api/v1/catalog-managers', {
    as,
    body: { name: 'QA', url: remote.url, api_key: apiKey },
  })
  const path = `/api/v1/catalog-managers/${body.id}/catalog/pull`
  // That of the test knows no tags, so one stands for what it tells of itself.
  remote.manifests = [{ catalog_id: 'demo', version: 'latest', architecture: 'x86_64' }]
  Object.defineProperty(remote.manifests[0], 'toJSON', { value: () => ({ name: 'demo', version: '1.0' }) })
  await call('PUT', path, {
    as,
    body: { catalog_id: 'demo', version: 'latest', machine_name: 'copy', architecture: 'x86_64' },
  })
  const asked = remote.seen.map(({ url }) => url.replace(/\?.*/, '')).filter(url => url.includes('/demo/'))
  expect(asked).toEqual(['/api/v1/catalog/demo/latest/x86_64', '/api/v1/catalog/demo/1.0/x86_64/download'])
})

test.for(['..', '.'])('a pull does not lead out of the catalog of a manager: %j', async (dots, { call, remote }) => {
  const { body } = await call('POST', '/api/v1/catalog-managers', {
    as,
    body: { name: 'QA', url: remote.url, api_key: apiKey },
  })
  const before = remote.seen.length
  for (const place of [
    { catalog_id: dots, version: 'users' },
    { catalog_id: 'demo', version: dots },
  ]) {
    const pulled = await call('PUT', `/api/v1/catalog-managers/${body.id}/catalog/pull`, {
      as,
      body: { ...place, machine_name: 'copy' },
    })
    expect(pulled.status).toBe(400)
  }
  expect(remote.seen).toHaveLength(before)
})
