import { mkdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { http, passthrough } from 'msw'
import { expect } from 'vitest'
import { createOutgoing, type Outgoing } from '#lib/platform/outgoing.ts'
import { type Call, test as base } from '../../support/harness.ts'

/** The catalog of another host, which says of each manifest whatever it likes. */
const test = base.extend<{ outgoing: Outgoing; told: Record<string, unknown>; liar: string }>({
  // oxlint-disable-next-line no-empty-pattern -- vitest reads the fixtures that are used off the pattern
  outgoing: async ({}, use) => use(createOutgoing({ allowed: ['127.0.0.1'] })),
  // oxlint-disable-next-line no-empty-pattern -- as above
  told: async ({}, use) => use({}),
  liar: async ({ told, network }, use) => {
    const server = createServer((_request, response) => {
      response.setHeader('Content-Type', 'application/json').end(JSON.stringify([told]))
    })
    await new Promise<void>(settle => void server.listen(0, '127.0.0.1', settle))
    const address = `127.0.0.1:${(server.address() as AddressInfo).port}`
    network.use(http.all(`http://${address}/*`, () => passthrough()))
    await use(`host=key@${address}`)
    server.closeAllConnections()
    server.close()
  },
})

const pushHidden = async (call: Call): Promise<void> => {
  await call('POST', '/api/v1/machines', { body: { name: 'source', cpus: 1, memory: 16, disks: [{ size: 1 }] } })
  const body = { catalog_id: 'hidden', version: '1', connection: 'provider=local-storage', uuid: 'source' }
  const { status } = await call('POST', '/api/v1/catalog/push', { body: { ...body, required_claims: ['VAULT'] } })
  expect(status).toBe(200)
}
const pull = (call: Call, connection: string) =>
  call('PUT', '/api/v1/catalog/pull', {
    as: ['PULL_CATALOG_MANIFEST'],
    body: { catalog_id: 'told', version: '1', machine_name: 'copy', connection },
  })

test('another service cannot make this one read its own folders', async ({ call, liar, told }) => {
  await pushHidden(call)
  const pack = { path: '/hidden', pack_filename: 'hidden-x86_64-1.pdpack', type: 'qemu' }
  Object.assign(told, { name: 'told', ...pack, provider: { type: 'local-storage', meta: {} } })
  const first = await pull(call, liar)
  expect(first.status).toBe(400)
  expect(first.body.message).toContain('does not serve it')
  expect((await pull(call, `${liar};provider=local-storage`)).status).toBe(403)
})

test('another service cannot make this one use the credentials of its environment', async ({ call, liar, told }) => {
  const meta = { bucket: 'packs', endpoint: 'http://s3.example', use_environment_authentication: 'true' }
  Object.assign(told, { name: 'told', pack_filename: 'x', type: 'qemu', provider: { type: 'minio', meta } })
  const { status, body } = await pull(call, liar)
  expect(status).toBe(400)
  expect(body.message).toContain('needs access_key')
})

test('only the valid members of another service’s manifest are used', async ({ call, liar, told, folder }) => {
  await pushHidden(call)
  mkdirSync(join(folder, 'theirs/told'), { recursive: true })
  const { body: source } = await call('GET', '/api/v1/catalog/hidden/1/x86_64/download?content=pack')
  expect(source).toBeDefined()
  Object.assign(told, { name: 'told\u001b[2J', catalog_id: 7, type: 'qemu\u001b[2J', required_claims: null })
  const { status, body } = await pull(call, `${liar};provider=local-storage;catalog_path=${folder}/theirs`)
  expect(status).toBe(502)
  expect(body.message).not.toContain('\u001b')
  writeFileSync(join(folder, 'theirs/told/pack'), 'no pack')
  Object.assign(told, { catalog_id: 'told', path: '/told', pack_filename: 'pack', type: 'vbox\u001b[2J' })
  const second = await pull(call, `${liar};provider=local-storage;catalog_path=${folder}/theirs`)
  expect(second.status).toBe(400)
  expect(second.body.message).not.toContain('\u001b')
  Object.assign(told, { description: 'x'.repeat(5_000_000) })
  expect((await pull(call, liar)).body.message).toContain('too large')
})
