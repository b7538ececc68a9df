import { createFetcher } from '#lib/objects/http/send.ts'
import { HttpResponse, http } from 'msw'
import { expect } from 'vitest'
import { parseConnection } from '#lib/objects/port/connection.ts'
import { createAzure } from '#lib/objects/azure/azure.ts'
import { createS3 } from '#lib/objects/s3/s3.ts'
import { test } from '../../support/harness.ts'

const s3 = 'provider=minio;bucket=packs;endpoint=http://s3.example;access_key=a;secret_key=b'
const azure =
  'provider=azure;storage_account_name=abc;container_name=packs;storage_account_key=YWJj;endpoint=http://s3.example'
const storage = (text: string) => parseConnection(text).storage!

test('a missing size of an object is an error of the storage', async ({ network }) => {
  network.use(http.head('http://s3.example/*', () => new HttpResponse()))
  const provider = await createS3(storage(s3), createFetcher)
  await expect(provider.stat('demo/pack')).rejects.toMatchObject({ fault: 'upstream' })
})

test('an invalid size in a list is an error of the storage', async ({ network }) => {
  for (const size of ['', '<Size>-1</Size>', '<Size>many</Size>']) {
    const list = `<ListBucketResult><Contents><Key>demo/pack</Key>${size}</Contents></ListBucketResult>`
    network.use(http.get('http://s3.example/*', () => HttpResponse.text(list)))
    const listed = (await createS3(storage(s3), createFetcher)).list('demo')[Symbol.asyncIterator]()
    await expect(listed.next()).rejects.toMatchObject({ fault: 'upstream' })
  }
})

test('an invalid time of an object is left out', async ({ network }) => {
  const headers = { 'content-length': '4', 'last-modified': 'yesterday' }
  network.use(http.head('http://s3.example/*', () => new HttpResponse(undefined, { headers })))
  expect(await (await createAzure(storage(azure), createFetcher())).stat('demo/pack')).toEqual({
    path: 'demo/pack',
    size: 4,
  })
})
