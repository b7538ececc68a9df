import { describe, expect } from 'vitest'
import { test as base } from '../../support/harness.ts'
import { at, register } from './packs.ts'

const test = base.extend({
  // oxlint-disable-next-line no-empty-pattern -- vitest reads the fixtures that are used off the pattern
  manifestsPerUser: async ({}, use) => use(3),
})

describe('the number of manifests of one user', () => {
  test('is limited; other users and changes of manifests are not affected', async ({ call }) => {
    for (const version of ['1', '2', '3']) expect((await register(call, { version })).status).toBe(200)
    expect(await register(call, { version: '4' })).toMatchObject({
      status: 409,
      body: { message: expect.stringContaining('manifests_per_user') },
    })
    expect((await register(call, { version: '3', description: 'again' })).status).toBe(200)
    const body = { catalog_id: 'win11', version: '4', architecture: 'arm64' }
    const as = ['other', 'CREATE_CATALOG_MANIFEST']
    expect((await call('POST', '/api/v1/catalog', { as, body })).status).toBe(200)
    expect((await call('DELETE', `${at('win11', '1')}?clean_remote=false`)).status).toBe(202)
    expect((await register(call, { version: '5' })).status).toBe(200)
  })
})
