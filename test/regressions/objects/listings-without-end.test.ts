import { createFetcher } from '#lib/objects/http/send.ts'
import { HttpResponse, http } from 'msw'
import { expect } from 'vitest'
import { parseConnection } from '#lib/objects/port/connection.ts'
import { createArtifactory } from '#lib/objects/artifactory/artifactory.ts'
import { createAzure } from '#lib/objects/azure/azure.ts'
import { createOci } from '#lib/objects/oci/oci.ts'
import type { Provider } from '#lib/objects/port/provider.ts'
import { createS3 } from '#lib/objects/s3/s3.ts'
import { test } from '../../support/harness.ts'

const storageOf = (connection: string) => parseConnection(connection).storage!
const s3 = storageOf('provider=minio;bucket=packs;endpoint=http://s3.example;access_key=a;secret_key=b')
const azure = storageOf(
  `provider=azure-storage-account;storage_account_name=account;container_name=packs;storage_account_key=${Buffer.from('key').toString('base64')};endpoint=http://azure.example`,
)
const oci = storageOf('provider=oci;registry=http://oci.example;repository=packs;username=a;password=b')
const dav = storageOf('provider=artifactory;url=http://dav.example;repo=packs;username=a;password=b')

const listed = async (provider: Provider): Promise<number> => {
  let count = 0
  for await (const _ of provider.list('')) count += 1
  return count
}
const objects = '<Contents><Key>demo/a</Key><Size>1</Size></Contents>'
const pageOf = (more: string): Response => HttpResponse.text(`<ListBucketResult>${objects}${more}</ListBucketResult>`)
const truncated = '<IsTruncated>true</IsTruncated>'

test.for([
  ['is truncated and has no continuation token', () => pageOf(truncated), 'without a continuation token'],
  [
    'has its own token as the next one',
    () => pageOf(`${truncated}<NextContinuationToken>x</NextContinuationToken>`),
    'without end',
  ],
  [
    'has the same objects as an earlier page',
    () => pageOf(`${truncated}<NextContinuationToken>${Math.random()}</NextContinuationToken>`),
    'without end',
  ],
  [
    'is empty, as are all pages after it',
    (page: number) =>
      HttpResponse.text(
        `<ListBucketResult>${truncated}<NextContinuationToken>${page}</NextContinuationToken></ListBucketResult>`,
      ),
    'without end',
  ],
  ['is not a list', () => HttpResponse.text('<html>Sign in</html>'), 'not a list of a bucket'],
] as const)('a page of S3 that %s is an error, and not the end of the list', async ([, page, words], { network }) => {
  let pages = 0
  network.use(http.get('http://s3.example/*', () => page((pages += 1))))
  await expect(listed(await createS3(s3, createFetcher))).rejects.toMatchObject({
    fault: 'upstream',
    message: expect.stringContaining(words),
  })
})

test('an endless list of tags of a registry is an error', async ({ network }) => {
  let pages = 0
  network.use(
    http.get('http://oci.example/v2/packs/tags/list', () => {
      pages += 1
      return HttpResponse.json(
        { tags: ['one', 'other'] },
        { headers: { link: `</v2/packs/tags/list?last=${pages}>; rel="next"` } },
      )
    }),
    http.get('http://oci.example/*', () => new HttpResponse(undefined, { status: 404 })),
  )
  await expect(listed(await createOci(oci, { fetcher: createFetcher() }))).rejects.toMatchObject({ fault: 'upstream' })
  expect(pages).toBeLessThan(10)
})

test('an endless list of blobs of Azure is an error', async ({ network }) => {
  let pages = 0
  network.use(
    http.get('http://azure.example/*', () => {
      pages += 1
      const blob = '<Blob><Name>a</Name><Properties><Content-Length>1</Content-Length></Properties></Blob>'
      return HttpResponse.text(
        `<?xml version="1.0"?><EnumerationResults><Blobs>${blob}</Blobs><NextMarker>${pages}</NextMarker></EnumerationResults>`,
        { headers: { 'content-type': 'application/xml' } },
      )
    }),
  )
  await expect(listed(await createAzure(azure, createFetcher()))).rejects.toMatchObject({ fault: 'upstream' })
  expect(pages).toBeLessThan(10)
})

test('endlessly nested folders of a WebDAV server are an error', async ({ network }) => {
  let asked = 0
  network.use(
    http.all('http://dav.example/*', ({ request }) => {
      if (request.method !== 'PROPFIND') return new HttpResponse(undefined, { status: 404 })
      asked += 1
      const { pathname } = new URL(request.url)
      const members = ['a', 'b'].map(
        name =>
          `<D:response><D:href>${pathname}${name}/</D:href><D:propstat><D:prop><D:resourcetype><D:collection/></D:resourcetype></D:prop></D:propstat></D:response>`,
      )
      // More requests than are needed to reach the limit of depth fail.
      if (asked > 100) return new HttpResponse(undefined, { status: 403 })
      return HttpResponse.text(`<D:multistatus xmlns:D="DAV:">${members.join('')}</D:multistatus>`, { status: 207 })
    }),
  )
  await expect(listed(await createArtifactory(dav, createFetcher()))).rejects.toMatchObject({
    fault: 'upstream',
    message: expect.stringContaining('without end'),
  })
})
