import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import { newState, rootPassword, startService } from '../../support/service.ts'
import { until } from '../../support/waiting.ts'

/** A storage that accepts every request and answers none. */
const openSilent = async () => {
  let asked = 0
  const server = createServer(() => void (asked += 1)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    asked: () => asked,
    connection: `provider=minio;bucket=packs;endpoint=http://127.0.0.1:${(server.address() as AddressInfo).port};access_key=a;secret_key=b`,
    [Symbol.dispose]() {
      server.closeAllConnections()
      server.close()
    },
  }
}

test('a resumed job fails with the reason when its API key was revoked', async () => {
  using state = newState()
  using storage = await openSilent()
  const env = { VMHOST_ROOT_PASSWORD: rootPassword }
  const first = await startService({ state: state.path, env })
  const token = await first.signIn()
  const claims = ['PUSH_CATALOG_MANIFEST', 'JOB_MANAGER_LIST_OWN']
  const made = await first.call('POST', '/api/v1/auth/api_keys', { token, body: { name: 'runner', claims } })
  const push = (catalog_id: string, headers: Record<string, string>) =>
    first.call('POST', '/api/v1/catalog/push/async', {
      headers,
      body: { catalog_id, version: '1', connection: storage.connection, uuid: 'demo' },
    })
  const byKey = await push('by-key', { 'x-api-key': made.body.encoded })
  const byOwner = await push('by-owner', { authorization: `Bearer ${token}` })
  expect([byKey.status, byOwner.status]).toEqual([202, 202])
  await until(() => expect(storage.asked()).toBeGreaterThan(1))
  expect((await first.call('PUT', '/api/v1/auth/api_keys/runner/revoke', { token })).status).toBe(202)
  const before = storage.asked()
  await first.kill()

  const second = await startService({ state: state.path, env })
  const asked = { token: await second.signIn() }
  const job = async (id: string) => (await second.call('GET', `/api/v1/jobs/${id}`, asked)).body
  await until(async () => expect((await job(byKey.body.id)).state).toBe('failed'))
  expect(await job(byKey.body.id)).toMatchObject({
    code: 403,
    error: 'This was asked for with an API key. The API key has been revoked.',
  })
  // The owner's own job is resumed.
  await until(() => expect(storage.asked()).toBeGreaterThan(before))
  expect((await job(byOwner.body.id)).state).toBe('running')
  await second.kill()
})
