import { expect } from 'vitest'
import { register } from '../../functions/catalog/packs.ts'
import { test } from '../../support/harness.ts'

const body = { catalog_id: 'win11', version: '1', architecture: 'arm64' }

test('a repeated Idempotency-Key gets the same reply of the catalog as the first request', async ({ call }) => {
  const ask = () => call('POST', '/api/v1/catalog', { body, headers: { 'Idempotency-Key': 'once' } })
  const first = await ask()
  const second = await ask()
  expect(second.status).toBe(200)
  expect(second.body).toEqual(first.body)
})

test('a change is answered in full although If-None-Match names its result', async ({ call }) => {
  await register(call, body)
  const path = '/api/v1/catalog/win11/1/arm64/taint'
  const { status } = await call('PATCH', path, { headers: { 'If-None-Match': '*' } })
  expect(status).toBe(200)
})
