import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { HttpResponse, http } from 'msw'
import { expect, vi } from 'vitest'
import { pushJob } from '#lib/transfers/contracts.ts'
import { PushManifest } from '#lib/transfers/schemas.ts'
import { runTransfer } from '#lib/entry/commands/transfer.ts'
import type { ApiClient } from '#lib/entry/admin/admin-client.ts'
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
  const ask = (async (_: string, path: string) => (path === '/jobs' ? [] : job)) as ApiClient
  const body = { catalog_id: 'demo', version: '1', connection: 'provider=local-storage', uuid: 'source' }
  const transfer = { kind: pushJob, schema: PushManifest, method: 'POST', path: '/push', body, flags: {} } as const
  await expect(runTransfer(ask, transfer)).rejects.toMatchObject({ fault: 'upstream', message: 'The storage is away.' })
  vi.restoreAllMocks()
})
