import { readdirSync, readFileSync, renameSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { parseChunkIndex } from '#lib/packs/chunks/chunk-index.ts'
import { at } from '../../functions/catalog/packs.ts'
import { test } from '../../support/harness.ts'

test('a machine in chunks whose index has another name is pulled, served and kept by collections', async ({
  call,
  folder,
}) => {
  const body = { catalog_id: 'demo', version: '1', architecture: 'x86_64', connection: 'provider=local-storage' }
  await call('POST', '/api/v1/machines', { body: { name: 'source', cpus: 1, memory: 16, disks: [{ size: 1 }] } })
  const push = await call('POST', '/api/v1/catalog/push', { body: { ...body, uuid: 'source', chunked: true } })
  expect(push.status, push.body.message).toBe(200)
  await call('DELETE', `${at('demo', '1', 'x86_64')}?clean_remote=false`)

  const inFolder = (name: string): string => join(folder, 'catalog/demo', name)
  const index = parseChunkIndex(readFileSync(inFolder('demo-x86_64-1.chunks.json'), 'utf8'))
  renameSync(inFolder('demo-x86_64-1.chunks.json'), inFolder('base.pack'))
  renameSync(inFolder('demo-x86_64-1.chunks.json.pack.json'), inFolder('base.pack.pack.json'))
  const meta = JSON.parse(readFileSync(inFolder('demo-x86_64-1.meta'), 'utf8'))
  writeFileSync(inFolder('demo-x86_64-1.meta'), JSON.stringify({ ...meta, pack_path: 'base.pack' }))
  const imported = await call('PUT', '/api/v1/catalog/import', { body })
  expect(imported.status, imported.body.message).toBe(200)
  expect(imported.body.manifest).toMatchObject({ pack_filename: 'base.pack', pack_size: meta.pack_size })

  const names = new Set(index.flatMap(({ chunks }) => chunks.flatMap(one => ('sha256' in one ? [one.sha256] : []))))
  for (const sha256 of names) {
    const path = `${at('demo', '1', 'x86_64')}/download?content=chunk&sha256=${sha256}`
    expect((await call('GET', path)).status).toBe(200)
    const chunk = join(folder, 'catalog/chunks', sha256.slice(0, 2), sha256)
    utimesSync(chunk, new Date(0), new Date(0))
  }
  const garbage = { connection: body.connection, dry_run: false }
  const cleaned = await call('POST', '/api/v1/catalog/garbage', { body: garbage })
  expect(cleaned.body).toEqual({ kept: names.size, young: 0, removed: 0, bytes: 0 })
  const pulled = await call('PUT', '/api/v1/catalog/pull', {
    body: { ...body, connection: undefined, machine_name: 'copy' },
  })
  expect(pulled.status, pulled.body.message).toBe(200)
  expect(readdirSync(join(folder, 'state/transfers'))).toEqual([])
})
