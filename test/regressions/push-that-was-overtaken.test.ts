import { hash } from 'node:crypto'
import { HttpResponse, http } from 'msw'
import { expect } from 'vitest'
import { createOutgoing, type Outgoing } from '#lib/platform/outgoing.ts'
import { type Call, test as base } from '../support/harness.ts'

interface Bucket {
  readonly objects: Map<string, Buffer>
  /** Is called when an object was put. */
  onPut: (key: string) => unknown
}

/** A bucket in memory, and a catalog of another host that has what was registered last. */
const test = base.extend<{ outgoing: Outgoing; bucket: Bucket; registered: object[] }>({
  // oxlint-disable-next-line no-empty-pattern -- vitest reads the fixtures that are used off the pattern
  outgoing: async ({}, use) =>
    use(createOutgoing({ allowed: [], resolve: async () => [{ address: '192.0.66.1', family: 4 }] })),
  // oxlint-disable-next-line no-empty-pattern -- as above
  registered: async ({}, use) => use([]),
  bucket: async ({ network, registered }, use) => {
    const bucket: Bucket = { objects: new Map(), onPut: () => {} }
    const keyOf = ({ url }: Request): string => decodeURIComponent(new URL(url).pathname.slice('/packs/'.length))
    const found = (request: Request, body: boolean) => {
      const bytes = bucket.objects.get(keyOf(request))
      if (!bytes) return new HttpResponse(undefined, { status: 404 })
      const headers = { 'content-length': String(bytes.length), 'x-amz-meta-sha256': hash('sha256', bytes) }
      return new HttpResponse(body ? bytes : undefined, { headers })
    }
    network.use(
      http.head('http://s3.example/*', ({ request }) => found(request, false)),
      http.get('http://s3.example/*', ({ request }) => {
        if (!new URL(request.url).searchParams.has('list-type')) return found(request, true)
        const contents = [...bucket.objects].map(
          ([key, bytes]) => `<Contents><Key>${key}</Key><Size>${bytes.length}</Size></Contents>`,
        )
        return HttpResponse.text(`<ListBucketResult>${contents.join('')}</ListBucketResult>`)
      }),
      http.put('http://s3.example/*', async ({ request }) => {
        bucket.objects.set(keyOf(request), Buffer.from(await request.arrayBuffer()))
        await bucket.onPut(keyOf(request))
        return new HttpResponse()
      }),
      http.delete('http://s3.example/*', ({ request }) => {
        bucket.objects.delete(keyOf(request))
        return new HttpResponse(undefined, { status: 204 })
      }),
      http.get('http://catalog.example/*', () => HttpResponse.json(registered.slice(-1))),
      http.post('http://catalog.example/*', async ({ request }) => {
        const body = { name: 'demo', ...((await request.json()) as object) }
        registered.push(body)
        return HttpResponse.json([body])
      }),
    )
    await use(bucket)
  },
})

const storage = 'provider=minio;bucket=packs;endpoint=http://s3.example;access_key=a;secret_key=b'
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

test('a pack that another host has written over has a name of its own', async ({ call, bucket }) => {
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
