import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { openCache } from '#lib/transfers/cache/cache.ts'
import { emptyContents } from '#lib/catalog/contents.ts'
import { toViewFields } from '#lib/catalog/view.ts'
import { applyRegistration } from '#lib/catalog/register.ts'
import { hash } from 'node:crypto'
import { type Call, test } from '../../support/harness.ts'

const push = async (call: Call, more: object = {}) => {
  await call('POST', '/api/v1/machines', { body: { name: 'source', cpus: 1, memory: 16, disks: [{ size: 1 }] } })
  const body = { catalog_id: 'demo', version: '1', connection: 'provider=local-storage', uuid: 'source', ...more }
  return (await call('POST', '/api/v1/catalog/push', { body })).body[0]
}
const pull = (call: Call, machine_name: string, more: object = {}, as = ['*']) =>
  call('PUT', '/api/v1/catalog/pull', { as, body: { catalog_id: 'demo', version: '1', machine_name, ...more } })

test('a machine that was removed from the cache on disk is fetched again', async ({ call }) => {
  await push(call)
  const first = (await pull(call, 'first')).body
  rmSync(join(first.local_cache_path, 'disk0.img'))
  const second = await pull(call, 'second')
  expect(second.status, second.body.message).toBe(200)
  expect(readFileSync(join(second.body.local_path, 'disk0.img'))).toEqual(
    readFileSync(join(first.local_path, 'disk0.img')),
  )
})

test('the digest of a pack gives no access to a cached machine that the caller may not see', async ({
  call,
  folder,
}) => {
  const { pack_sha256, type } = await push(call, { required_claims: ['VAULT'] })
  await pull(call, 'first')
  mkdirSync(join(folder, 'catalog/mine'))
  writeFileSync(join(folder, 'catalog/mine/pack'), 'mine')
  const provider = { type: 'local-storage', meta: {} }
  const mine = {
    catalog_id: 'mine',
    version: '1',
    architecture: 'x86_64',
    type,
    provider,
    pack_path: 'pack',
    pack_sha256,
  }
  expect((await call('POST', '/api/v1/catalog', { as: ['CREATE_CATALOG_MANIFEST'], body: mine })).status).toBe(200)
  const { status } = await pull(call, 'stolen', { catalog_id: 'mine' }, ['PULL_CATALOG_MANIFEST'])
  expect(status).toBe(502)
  expect((await pull(call, 'second')).body.local_cache_path).not.toBe('')
})

test('its size is correct after concurrent additions and removals', async ({ eventLog, folder }) => {
  const [from, root] = [join(folder, 'from'), join(folder, 'kept')]
  mkdirSync(from)
  const text = 'x'.repeat(8192)
  writeFileSync(join(from, 'disk'), text)
  const files = [{ name: 'disk', size: text.length, sha256: hash('sha256', text) }]
  const { store, events } = eventLog
  const inventory = { get: () => undefined }
  const cache = await openCache({
    store,
    publish: events.publish,
    inventory,
    folder: root,
    maxSize: 20_000,
    minFree: 0,
  })
  const how = { signal: new AbortController().signal, onProgress: () => {} }
  const manifest = {
    ...emptyContents,
    ...toViewFields(
      applyRegistration({ catalog_id: 'demo', version: '1', architecture: 'x86_64', tags: [] }, undefined, {
        at: '2026-06-01T00:00:00.000000Z',
      }),
    ),
  }
  const keep = (name: string) => cache.keep({ sha256: name.repeat(64), manifest }, files, from, how)
  // Two fit, and five want to be kept at once.
  await Promise.all(['a', 'b', 'c', 'd', 'e'].map(keep))
  expect(cache.size()).toBeLessThanOrEqual(20_000)
  expect(readdirSync(root)).toHaveLength(cache.size() / 8192)
  const everybody = { superUser: true, roles: [], claims: new Set<string>(), id: '', username: '', email: '' }
  await Promise.allSettled(Array.from({ length: 4 }, () => cache.remove(everybody, {})))
  expect(cache.size()).toBe(0)
})
