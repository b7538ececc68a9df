import { mkdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { http, passthrough } from 'msw'
import { expect } from 'vitest'
import { createOutgoing } from '#lib/platform/outgoing.ts'
import type { SendOutgoing } from '#lib/platform/outgoing-request.ts'
import { type Call, test as base } from '../../support/harness.ts'

/** A hostile catalog of another host. Each test sets the manifests that it shows. */
const test = base.extend<{ outgoing: SendOutgoing; manifest: Record<string, unknown>; connection: string }>({
  // oxlint-disable-next-line no-empty-pattern -- vitest reads the fixtures that are used off the pattern
  outgoing: async ({}, use) => use(createOutgoing({ allowed: ['127.0.0.1'] })),
  // oxlint-disable-next-line no-empty-pattern -- as above
  manifest: async ({}, use) => use({}),
  connection: async ({ manifest, network }, use) => {
    const server = createServer((_request, response) => {
      response.setHeader('Content-Type', 'application/json').end(JSON.stringify([manifest]))
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
    body: { catalog_id: 'demo', version: '1', machine_name: 'copy', connection },
  })

test('a manifest of another service cannot name a folder of this host', async ({ call, connection, manifest }) => {
  await pushHidden(call)
  const pack = { path: '/hidden', pack_filename: 'hidden-x86_64-1.pdpack', type: 'qemu' }
  Object.assign(manifest, { name: 'demo', ...pack, provider: { type: 'local-storage', meta: {} } })
  const first = await pull(call, connection)
  expect(first.status).toBe(400)
  expect(first.body.message).toContain('does not serve it')
  expect((await pull(call, `${connection};provider=local-storage`)).status).toBe(403)
})

test('a manifest of another service cannot use the credentials of this host’s environment', async ({
  call,
  connection,
  manifest,
}) => {
  const meta = { bucket: 'packs', endpoint: 'http://s3.example', use_environment_authentication: 'true' }
  Object.assign(manifest, { name: 'demo', pack_filename: 'x', type: 'qemu', provider: { type: 'minio', meta } })
  const { status, body } = await pull(call, connection)
  expect(status).toBe(400)
  expect(body.message).toContain('needs access_key')
})

test('only the valid members of another service’s manifest are stored', async ({
  call,
  connection,
  manifest,
  folder,
}) => {
  await pushHidden(call)
  mkdirSync(join(folder, 'theirs/demo'), { recursive: true })
  const { body: source } = await call('GET', '/api/v1/catalog/hidden/1/x86_64/download?content=pack')
  expect(source).toBeDefined()
  Object.assign(manifest, { name: 'demo\u001b[2J', catalog_id: 7, type: 'qemu\u001b[2J', required_claims: null })
  const { status, body } = await pull(call, `${connection};provider=local-storage;catalog_path=${folder}/theirs`)
  expect(status).toBe(502)
  expect(body.message).not.toContain('\u001b')
  writeFileSync(join(folder, 'theirs/demo/pack'), 'no pack')
  Object.assign(manifest, { catalog_id: 'demo', path: '/demo', pack_filename: 'pack', type: 'vbox\u001b[2J' })
  const second = await pull(call, `${connection};provider=local-storage;catalog_path=${folder}/theirs`)
  expect(second.status).toBe(400)
  expect(second.body.message).not.toContain('\u001b')
  Object.assign(manifest, { description: 'x'.repeat(5_000_000) })
  expect((await pull(call, connection)).body.message).toContain('too large')
})
