import { expect } from 'vitest'
import { at, register } from '../../functions/catalog/packs.ts'
import { test } from '../../support/harness.ts'

test('a deletion with a condition deletes nothing that has changed', async ({ call }) => {
  await register(call)
  const place = at('win11', '24.2', 'arm64')
  for (const path of [place, at('win11')]) {
    const { headers } = await call('GET', path)
    const ifMatch = { headers: { 'if-match': headers.get('etag')! } }
    await call('PUT', `${place}/metadata`, { body: { description: `changed since ${path} was read` } })
    expect((await call('DELETE', path, ifMatch)).status).toBe(412)
  }
  await register(call, { version: '25' })
  const { headers } = await call('GET', at('win11'))
  const both = { headers: { 'if-match': headers.get('etag')! } }
  await call('PUT', `${place}/metadata`, { body: { description: 'again' } })
  expect((await call('DELETE', at('win11'), both)).status).toBe(412)
  expect((await call('GET', at('win11'))).body).toHaveLength(2)
  const now = { headers: { 'if-match': (await call('GET', at('win11'))).headers.get('etag')! } }
  expect((await call('DELETE', at('win11'), now)).status).toBe(202)
})
