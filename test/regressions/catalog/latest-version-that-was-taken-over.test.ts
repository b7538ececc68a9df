import { expect } from 'vitest'
import { at, register } from '../../functions/catalog/packs.ts'
import { test } from '../../support/harness.ts'

const stranger = ['CREATE_CATALOG_MANIFEST', 'IMPORT_CATALOG_MANIFEST', 'LIST_CATALOG_MANIFEST']

test('a caller who sees no version of an id cannot add the next one', async ({ call }) => {
  await register(call, { catalog_id: 'vault', version: '1', required_claims: ['VAULT'] })
  expect((await register(call, { catalog_id: 'vault', version: '2' }, { as: stranger })).status).toBe(409)
  const body = { catalog_id: 'vault', version: '2', architecture: 'arm64', connection: 'provider=local-storage' }
  expect((await call('PUT', '/api/v1/catalog/import', { as: stranger, body })).status).toBe(409)
  const [latest] = (await call('GET', at('vault', 'latest'), { as: ['LIST_CATALOG_MANIFEST', 'VAULT'] })).body
  expect(latest).toMatchObject({ version: '1', tags: ['latest'] })

  expect((await register(call, { catalog_id: 'vault', version: '2' }, { as: [...stranger, 'VAULT'] })).status).toBe(200)
  expect((await register(call, { catalog_id: 'vault', version: '3' }, { as: stranger })).status).toBe(200)
})
