import { hash } from 'node:crypto'
import { HttpResponse, http } from 'msw'
import { createOutgoing } from '#lib/platform/outgoing.ts'
import type { SendOutgoing } from '#lib/platform/outgoing-request.ts'
import { test as base } from '../harness.ts'

/** Objects of a bucket of S3. */
export interface Bucket {
  readonly objects: Map<string, Buffer>
  /** Is called when an object was put. */
  onPut: (key: string) => unknown
}

/** `test` with a bucket in memory, and a catalog of another host that has what was registered last. */
export const test = base.extend<{ outgoing: SendOutgoing; bucket: Bucket; registered: object[] }>({
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

/** The connection of that bucket. */
export const bucketConnection = 'provider=minio;bucket=packs;endpoint=http://s3.example;access_key=a;secret_key=b'
