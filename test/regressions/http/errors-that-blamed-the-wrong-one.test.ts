import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { HttpResponse, http } from 'msw'
import { expect, vi } from 'vitest'
import { pushJob } from '#lib/transfers/contracts.ts'
import { PushManifest } from '#lib/transfers/schemas.ts'
import { runTransfer } from '#lib/entry/commands/transfer.ts'
import { createClient } from '#lib/client/client.ts'
import type { Service } from '#lib/entry/connect/service.ts'
import { at, register } from '../../functions/catalog/packs.ts'
import { test } from '../../support/harness.ts'

const pull = { catalog_id: 'demo', version: '1', machine_name: 'copy' }

test.for([
  ['sidecar', 'demo-x86_64-1.pdpack.pack.json', '{"files":[]}'],
  ['pack', 'demo-x86_64-1.pdpack', 'no pack at all'],
] as const)(
  'a damaged %s is an upstream error, not an invalid request',
  async ([, name, content], { call, folder }) => {
    await call('POST', '/api/v1/machines', { body: { name: 'source', cpus: 1, memory: 16, disks: [{ size: 1 }] } })
    const body = { catalog_id: 'demo', version: '1', connection: 'provider=local-storage', uuid: 'source' }
    const pushed = await call('POST', '/api/v1/catalog/push', { body })
    expect(pushed.status, pushed.body.message).toBe(200)
    writeFileSync(join(folder, 'catalog/demo', name), content)
    expect(await call('PUT', '/api/v1/catalog/pull', { body: pull })).toMatchObject({ status: 502 })
  },
)

test('a deletion that the storage forbids is answered with forbidden', async ({ call, network }) => {
  network.use(http.all('http://169.254.169.254/*', () => new HttpResponse()))
  const meta = { bucket: 'packs', endpoint: 'http://169.254.169.254', access_key: 'a', secret_key: 'b' }
  await register(call, { path: '/win11', pack_path: 'pack', provider: { type: 'minio', meta } })
  const { status, body } = await call('DELETE', at('win11'))
  expect({ status, ...body }).toMatchObject({ status: 403, message: expect.stringContaining('was not') })
})

test('the command line exits with the fault of the failed job', async () => {
  vi.spyOn(process.stderr, 'write').mockReturnValue(true)
  const job = { id: crypto.randomUUID(), state: 'failed', error: 'The storage is away.', code: 502 }
  const client = createClient({
    url: 'http://service.test',
    fetch: async url => Response.json(url.endsWith('/jobs') ? [] : job),
  })
  const target = { name: 'the service', url: 'http://service.test', headers: {}, hint: '' }
  const service: Service = { client, target, isRunning: true }
  const body = { catalog_id: 'demo', version: '1', connection: 'provider=local-storage', uuid: 'source' }
  const start = () => client.api.catalog.pushAsync({ body })
  const transfer = { kind: pushJob, schema: PushManifest, start, body, flags: {} }
  await expect(runTransfer(service, transfer)).rejects.toMatchObject({
    status: 502,
    message: 'The storage is away.',
  })
  vi.restoreAllMocks()
})
