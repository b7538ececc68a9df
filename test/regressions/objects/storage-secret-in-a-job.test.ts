import { HttpResponse, http } from 'msw'
import { expect } from 'vitest'
import { createOutgoing } from '#lib/platform/outgoing.ts'
import type { SendOutgoing } from '#lib/platform/outgoing-request.ts'
import { test as base } from '../../support/harness.ts'

const test = base.extend<{ outgoing: SendOutgoing }>({
  // oxlint-disable-next-line no-empty-pattern -- vitest reads the fixtures that are used off the pattern
  outgoing: async ({}, use) =>
    use(createOutgoing({ allowed: [], resolve: async () => [{ address: '192.0.66.1', family: 4 }] })),
})

test('secrets of a storage that another catalog returns are in no reply and no job', async ({ call, network }) => {
  network.use(
    http.head('http://s3.example/*', () => new HttpResponse(undefined, { status: 404 })),
    http.get('http://s3.example/*', () => HttpResponse.text('<ListBucketResult></ListBucketResult>')),
    http.put('http://s3.example/*', () => new HttpResponse()),
    http.get('http://catalog.example/*', () => HttpResponse.json({ message: 'none' }, { status: 404 })),
    http.post('http://catalog.example/*', async ({ request }) => {
      const body = (await request.json()) as object
      return HttpResponse.json([{ ...body, name: 'demo', secrets: 'the-secret-of-the-storage' }])
    }),
  )
  await call('POST', '/api/v1/machines', { body: { name: 'source', cpus: 1, memory: 16, disks: [{ size: 1 }] } })
  const storage =
    'provider=minio;bucket=packs;endpoint=http://s3.example;access_key=a;secret_key=the-secret-of-the-storage'
  const { status, body } = await call('POST', '/api/v1/catalog/push', {
    body: { catalog_id: 'demo', version: '1', connection: `host=key@catalog.example;${storage}`, uuid: 'source' },
  })
  expect(status, body.message).toBe(200)
  expect(body[0]).toMatchObject({ catalog_id: 'demo', provider: { type: 'minio', meta: { bucket: 'packs' } } })
  const jobs = await call('GET', '/api/v1/jobs')
  expect(JSON.stringify([body, jobs.body])).not.toContain('the-secret')
})

test.for([
  'provider=minio;bucket=packs;endpoint=http://user:the-secret@s3.example;access_key=a;secret_key=b',
  'provider=azure;storage_account_name=a;container_name=packs;storage_account_key=a;endpoint=https://a.example?sig=the-secret',
  'provider=artifactory;url=https://user:the-secret@packs.example;repo=packs;access_key=a',
  'provider=oci;registry=user:the-secret@packs.example;repository=packs',
])('credentials in the address of a storage are in no reply and no job: %s', async (connection, { call }) => {
  await call('POST', '/api/v1/machines', { body: { name: 'source', cpus: 1, memory: 16, disks: [{ size: 1 }] } })
  const body = { catalog_id: 'demo', version: '1', connection, uuid: 'source' }
  const pushed = await call('POST', '/api/v1/catalog/push', { body })
  expect(pushed.status).toBe(400)
  const jobs = await call('GET', '/api/v1/jobs')
  expect(jobs.body).toHaveLength(1)
  expect(JSON.stringify([pushed.body, jobs.body])).not.toContain('the-secret')
})
