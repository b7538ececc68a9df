import { expect, test } from 'vitest'
import { newState, rootPassword, startService } from '../support/service.ts'

test('the service answers a repeated Idempotency-Key with the first reply', async () => {
  using state = newState()
  const service = await startService({
    state: state.path,
    driver: 'embedded',
    env: { VMHOST_ROOT_PASSWORD: rootPassword },
  })
  const token = await service.signIn()
  const clone = (key: string) =>
    service.call('PUT', '/api/v1/machines/demo/clone', {
      token,
      headers: { 'idempotency-key': key },
      body: { clone_name: 'twin' },
    })
  const first = await clone('first')
  expect(first.status, JSON.stringify(first.body)).toBe(200)
  expect(await clone('first')).toMatchObject({ status: 200, body: first.body })
  expect((await clone('second')).status).toBe(409)
  await service.stop()
})
