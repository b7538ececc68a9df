import { expect } from 'vitest'
import { test } from '../../support/harness.ts'

test('the error for an unknown path names the OpenAPI document, and has a code for programs', async ({ call }) => {
  const { status, body } = await call('GET', '/api/v1/machine')
  expect(status).toBe(404)
  expect(body.message).toBe('There is nothing at /api/v1/machine. /api/openapi.json tells what there is.')
  expect(body.error).toBe('unknown_endpoint')
  expect((await call('GET', '/api/openapi.json')).status).toBe(200)
})
