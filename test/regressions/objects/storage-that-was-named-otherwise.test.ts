import { HttpResponse, http } from 'msw'
import { expect } from 'vitest'
import { parseConnection } from '#lib/objects/port/connection.ts'
import { createHostStorages } from '#lib/objects/host-storages.ts'
import { at, register } from '../../functions/catalog/packs.ts'
import { test } from '../../support/harness.ts'
import { anyFile } from '../../support/host-files.ts'

const s3 = 'access_key=a;secret_key=b'

test.for([
  [
    `minio;bucket=packs;endpoint=minio.example:9000;${s3}`,
    `s3;bucket=PACKS;region=x;endpoint=http://MINIO.example:9000/;${s3}`,
  ],
  [
    `minio;bucket=packs;endpoint=https://minio.example:443;${s3}`,
    `minio;bucket=packs;endpoint=minio.example.;use_ssl=true;${s3}`,
  ],
  [`s3;bucket=packs;region=eu-west-1;${s3}`, `minio;bucket=packs;endpoint=https://s3.eu-west-1.amazonaws.com;${s3}`],
  [
    'azure;storage_account_name=abc;container_name=packs;storage_account_key=a',
    'azure;storage_account_name=abc;container_name=packs;storage_account_key=b;endpoint=https://abc.blob.core.windows.net/',
  ],
  [
    'artifactory;url=https://packs.example/artifactory/;repo=/packs/;access_key=a',
    'artifactory;url=packs.example;repo=packs;username=a;password=b',
  ],
  ['oci;registry=packs.example;repository=a/b', 'oci;registry=https://packs.example:443;repository=a/b'],
] as const)('a storage has one key, however its address is written: %s', async ([one, other], { folder }) => {
  const storages = createHostStorages({ folder, hostFiles: anyFile })
  const getLocations = (text: string) =>
    storages.getObjectLocations(parseConnection(`provider=${text}`).storage!, 'demo/pack')
  expect(await getLocations(one)).toEqual(await getLocations(other))
  expect(await getLocations(one)).not.toEqual(await getLocations(one.replaceAll('packs', 'more')))
})

test('another notation of a storage gives no access to a hidden pack', async ({ call, network }) => {
  const gone: string[] = []
  network.use(
    http.head('http://minio.example/*', () => new HttpResponse(undefined, { headers: { 'content-length': '4' } })),
    http.get('http://minio.example/*', () => HttpResponse.text('<ListBucketResult></ListBucketResult>')),
    http.delete('http://minio.example/*', ({ request }) => {
      gone.push(request.url)
      return new HttpResponse(undefined, { status: 204 })
    }),
  )
  const meta = { bucket: 'packs', endpoint: 'minio.example', access_key: 'a', secret_key: 'b' }
  const pack = { path: '/hidden', pack_path: 'pack' }
  await register(call, { catalog_id: 'hidden', required_claims: ['VAULT'], provider: { type: 'minio', meta }, ...pack })
  const as = ['CREATE_CATALOG_MANIFEST', 'DELETE_CATALOG_MANIFEST']
  const other = { type: 'aws-s3', meta: { ...meta, region: 'x', endpoint: 'http://minio.example/' } }
  expect((await register(call, { catalog_id: 'mine', provider: other, ...pack }, { as })).status).toBe(403)
  expect((await register(call, { catalog_id: 'mine', provider: other, ...pack })).status).toBe(200)
  expect((await call('DELETE', at('mine'), { as })).status).toBe(202)
  expect(gone).toEqual([])
})
