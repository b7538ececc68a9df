import { createHash } from 'node:crypto'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { toSource } from '#lib/objects/port/bytes.ts'
import { parseConnection } from '#lib/objects/port/connection.ts'
import { storageKinds } from '../support/storages.ts'
import { type Edge, startEdge } from '../support/workerd/edge.ts'

const pack = Buffer.from('0123456789'.repeat(1_000))
const sha256 = createHash('sha256').update(pack).digest('hex')

describe('the catalog of the edge', () => {
  let edge: Edge
  let token: string
  beforeAll(async () => {
    // The storages of the tests are on this computer.
    edge = await startEdge({ network: ['public', 'private', 'local'] })
    token = await edge.signIn()
  })
  afterAll(() => edge[Symbol.asyncDispose]())

  describe.for(storageKinds)('on $name', ({ name, left, open }) => {
    test.skipIf(left !== '')(`has manifests whose packs are there${left && ` (${left})`}`, async () => {
      await using place = await open()
      const { storage } = parseConnection(place.connection)
      const [folder, file] = ['demo', 'demo-x86_64-1.pdpack']
      const description = `${folder}/demo-x86_64-1.meta`
      await place.provider.write(`${folder}/${file}`, toSource(pack))
      const manifest = {
        catalog_id: `demo-${name}`,
        version: '1',
        architecture: 'x86_64',
        provider: storage,
        path: `/${folder}`,
        pack_path: file,
        metadata_path: 'demo-x86_64-1.meta',
        pack_size: pack.length,
        pack_sha256: sha256,
      }
      expect(await edge.ask('POST', '/v1/catalog', { token, body: manifest })).toMatchObject({ status: 200 })
      const path = `/v1/catalog/demo-${name}/1/x86_64`

      const part = await fetch(`${edge.url}/api${path}/download?content=pack`, {
        headers: { authorization: `Bearer ${token}`, range: 'bytes=4995-5004' },
      })
      expect([part.status, await part.text()]).toEqual([206, '5678901234'])
      const whole = await fetch(`${edge.url}/api${path}/download?content=pack`, {
        headers: { authorization: `Bearer ${token}` },
      })
      expect(
        createHash('sha256')
          .update(Buffer.from(await whole.arrayBuffer()))
          .digest('hex'),
      ).toBe(sha256)

      const edit = { token, body: { tags: ['stable'] } }
      expect(await edge.ask('PATCH', `${path}/tags`, edit)).toMatchObject({ status: 200 })
      // The change has been written beside the pack.
      const written = await text(await place.provider.read(description))
      expect(JSON.parse(written)).toMatchObject({ tags: expect.arrayContaining(['stable']) })
      await edge.restart()
      expect(await edge.ask('GET', path, { token })).toMatchObject({
        status: 200,
        body: [{ tags: expect.arrayContaining(['stable']) }],
      })
      expect(await edge.ask('DELETE', path, { token })).toMatchObject({ status: 202 })
      expect(await edge.ask('GET', path, { token })).toMatchObject({ status: 404 })
    })
  })
})
