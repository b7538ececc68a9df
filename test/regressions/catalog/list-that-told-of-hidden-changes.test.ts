import { expect } from 'vitest'
import { at, register } from '../../functions/catalog/packs.ts'
import { test } from '../../support/harness.ts'

test('the tag of the list changes only with manifests that its reader may see', async ({ call }) => {
  const as = ['LIST_CATALOG_MANIFEST']
  const tag = async () => (await call('GET', '/api/v1/catalog', { as })).headers.get('etag')
  await register(call, { catalog_id: 'seen' })
  const first = await tag()
  await register(call, { catalog_id: 'hidden', required_claims: ['VAULT'] })
  await call('PATCH', at('hidden', '24.2', 'arm64', 'taint'))
  expect(await tag()).toBe(first)
  await call('PATCH', at('seen', '24.2', 'arm64', 'taint'))
  expect(await tag()).not.toBe(first)
})
