import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { apiKey, password, startRemoteCatalog } from '../functions/catalog-managers/remote-catalog.ts'
import { newState, rootPassword, startService } from '../support/service.ts'

test('the service encrypts the secrets of catalog managers and reaches only allowed addresses', async () => {
  using state = newState()
  await using remote = await startRemoteCatalog()
  remote.manifests = [{ catalog_id: 'OPEN', version: '1', architecture: 'arm64' }]
  const env = {
    VMHOST_ROOT_PASSWORD: rootPassword,
    VMHOST_DEMO: 'off',
    VMHOST_LOG: 'debug',
    VMHOST_STORAGE_PASSWORD: 'a-storage-password-1',
  }
  const allowed = { ...env, VMHOST_OUTGOING_ADDRESSES: '127.0.0.1' }
  const managers = '/api/v1/catalog-managers'
  const filesHold = (text: string): boolean =>
    readdirSync(state.path, { recursive: true, withFileTypes: true }).some(
      file => file.isFile() && readFileSync(join(file.parentPath, file.name), 'latin1').includes(text),
    )

  const first = await startService({ state: state.path, env: allowed })
  const token = await first.signIn()
  const user = { username: 'jane', name: 'Jane', email: 'jane@example.test', password: rootPassword }
  await first.call('POST', '/api/v1/auth/users', { token, body: user })
  const hers = (await first.call('POST', '/api/v1/auth/token', { body: user })).body.token
  const create = (token: string, more: object) =>
    first.call('POST', managers, { token, body: { name: 'QA', url: remote.url, ...more } })
  const [mine, other] = [await create(token, { api_key: apiKey }), await create(hers, { username: 'me', password })]
  expect([mine.status, other.status]).toEqual([201, 201])
  const log = [first.log()]
  await first.stop()

  const second = await startService({ state: state.path, env: allowed })
  const again = await second.signIn()
  for (const { id } of [mine.body, other.body])
    expect(await second.call('GET', `${managers}/${id}/catalog/open`, { token: again })).toMatchObject({
      status: 200,
      body: [{ catalog_id: 'OPEN' }],
    })
  expect((await second.call('DELETE', '/api/v1/auth/users/jane', { token: again })).status).toBe(202)
  expect((await second.call('GET', managers, { token: again })).body).toEqual([mine.body])
  const audit = (await second.call('GET', '/api/v1/audit?operation=catalog-managers/create', { token: again })).body
  expect(audit.entries.at(-1)).toMatchObject({ outcome: 'done', details: { name: 'QA', url: remote.url } })
  log.push(second.log(), JSON.stringify(audit))
  await second.stop()
  for (const secret of [apiKey, password]) {
    expect(log.join('')).not.toContain(secret)
    expect(filesHold(secret)).toBe(false)
  }

  const third = await startService({ state: state.path, env })
  const { body, status } = await third.call('GET', `${managers}/${mine.body.id}/catalog`, {
    token: await third.signIn(),
  })
  expect([status, body.message]).toEqual([403, expect.stringContaining('outgoing_addresses')])
  await third.stop()
})
