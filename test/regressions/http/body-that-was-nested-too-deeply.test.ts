import { expect } from 'vitest'
import { test } from '../../support/harness.ts'

test.for([300, 1_000, 2_000, 3_000, 4_000, 20_000])(
  'a body of %i lists in each other is refused',
  async (n, { call }) => {
    const body = `{"type":"json","value":${'['.repeat(n)}${']'.repeat(n)}}`
    const { status, body: reply } = await call('POST', '/api/v1/user/configs', { body })
    expect({ status, message: reply.message }).toMatchObject({
      status: 400,
      message: expect.stringContaining('nested'),
    })
  },
)

test('a body of 200 nested arrays is read', async ({ call }) => {
  const value = JSON.parse(`${'['.repeat(200)}${']'.repeat(200)}`)
  expect((await call('POST', '/api/v1/user/configs', { body: { type: 'json', value } })).status).toBe(201)
})
