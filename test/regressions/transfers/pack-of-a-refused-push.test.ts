import { HttpResponse, http } from 'msw'
import { expect } from 'vitest'
import { bucketConnection, test } from '../../support/servers/memory-bucket.ts'

test.for([
  [403, []],
  [503, ['demo/demo-x86_64-1.meta', 'demo/demo-x86_64-1.pdpack', 'demo/demo-x86_64-1.pdpack.pack.json']],
] as const)(
  'what a catalog does not take is left on no storage: %j',
  async ([status, left], { call, bucket, network }) => {
    network.use(http.post('http://catalog.example/*', () => HttpResponse.json({ message: 'no' }, { status })))
    await call('POST', '/api/v1/machines', { body: { name: 'source', cpus: 1, memory: 16, disks: [{ size: 1 }] } })
    const connection = `host=key@catalog.example;${bucketConnection}`
    const body = { catalog_id: 'demo', version: '1', connection, uuid: 'source' }
    expect((await call('POST', '/api/v1/catalog/push', { body })).status).toBe(status === 403 ? 403 : 502)
    expect([...bucket.objects.keys()].toSorted()).toEqual(left)
  },
)
