import { hash } from 'node:crypto'
import { expect } from 'vitest'
import type { Call } from '../../support/harness.ts'
import { bucketConnection as storage, test } from '../../support/servers/memory-bucket.ts'

const push = async (call: Call, connection = storage) => {
  await call('POST', '/api/v1/machines', { body: { name: 'source', cpus: 1, memory: 16, disks: [{ size: 1 }] } })
  const body = { catalog_id: 'demo', version: '1', connection, uuid: 'source' }
  const { status, body: reply } = await call('POST', '/api/v1/catalog/push', { body })
  expect(status, reply.message).toBe(200)
  return reply[0]
}
const side = 'demo/demo-x86_64-1.pdpack.pack.json'

test('a pack that is deleted while it is pushed again is sent again', async ({ call, bucket }) => {
  await push(call)
  bucket.onPut = async key => {
    if (key !== side) return
    bucket.onPut = () => {}
    expect((await call('DELETE', '/api/v1/catalog/demo')).status).toBe(202)
  }
  const { pack_filename, pack_sha256 } = await push(call)
  expect(hash('sha256', bucket.objects.get(`demo/${pack_filename}`)!)).toBe(pack_sha256)
  expect(await call('GET', '/api/v1/catalog/demo')).toMatchObject({ status: 200, body: [{ pack_filename }] })
})

test('a pack that another host has overwritten is published again under a name of its own', async ({
  call,
  bucket,
}) => {
  bucket.onPut = key => key === side && bucket.objects.set('demo/demo-x86_64-1.pdpack', Buffer.from('of another host'))
  const { pack_filename, pack_sha256 } = await push(call)
  expect(hash('sha256', bucket.objects.get(`demo/${pack_filename}`)!)).toBe(pack_sha256)
})

test('a push leaves the pack that another host has registered meanwhile', async ({ call, bucket, registered }) => {
  const theirs = 'demo-x86_64-1~aaaaaaaa.pdpack'
  const other = { name: 'demo', catalog_id: 'demo', version: '1', pack_filename: theirs, pack_sha256: 'a'.repeat(64) }
  bucket.objects.set(`demo/${theirs}`, Buffer.from('of another host'))
  bucket.onPut = key => {
    if (!key.endsWith('.meta')) return
    const { push: add } = registered
    registered.push = (...items) => add.call(registered, ...items, other)
  }
  await push(call, `host=key@catalog.example;${storage}`)
  expect([...bucket.objects.keys()]).toContain(`demo/${theirs}`)
})
