import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { HttpResponse, http } from 'msw'
import { expect } from 'vitest'
import { type Call, test } from '../../support/harness.ts'

const manifest = { catalog_id: 'demo', version: '1', architecture: 'arm64', connection: 'provider=local-storage' }

const leave = (folder: string, metadata: object): void => {
  mkdirSync(join(folder, 'catalog/demo/mac.macvm'), { recursive: true })
  writeFileSync(join(folder, 'catalog/demo/mac.macvm/config.pvs'), 'config')
  writeFileSync(join(folder, 'catalog/demo/demo-arm64-1.pdpack'), gzipSync('pack'))
  writeFileSync(join(folder, 'catalog/demo/demo-arm64-1.meta'), JSON.stringify(metadata))
}
const both = async (call: Call) => {
  const imported = await call('PUT', '/api/v1/catalog/import', { body: manifest })
  await call('DELETE', '/api/v1/catalog/demo?clean_remote=false')
  const body = { ...manifest, machine_remote_path: 'demo/mac.macvm', size: 6 }
  return [imported, await call('PUT', '/api/v1/catalog/import-vm', { body })]
}

test('an import uses the valid members of a description', async ({ call, folder }) => {
  leave(folder, { toString: 1, constructor: {}, tags: ['a,b', 5], description: 7, pack_path: '.hidden', size: -1 })
  for (const { status, body } of await both(call)) {
    expect(status, body.message).toBe(200)
    expect(body.manifest).toMatchObject({ description: '', tags: ['latest'] })
  }
})

test('an import refuses invalid claims, so that a restricted manifest does not become public', async ({
  call,
  folder,
}) => {
  leave(folder, { required_claims: ['VAULT', 7] })
  for (const { status, body } of await both(call)) expect(status, body.message).toBe(502)
  expect((await call('GET', '/api/v1/catalog')).body).toEqual([])
})

test('an import refuses a machine of a storage with an endless listing or invalid sizes', async ({ call, network }) => {
  const object = '<Contents><Key>big.pvm/file</Key><Size>1</Size></Contents>'
  let pages = 0
  let one = ''
  const many = (): string =>
    Array.from({ length: 1000 }, (_, at) => object.replace('file', `file-${pages}-${at}`)).join('')
  network.use(
    http.head('http://s3.example/*', () => new HttpResponse(undefined, { status: 404 })),
    http.get('http://s3.example/*', () => {
      const more = `<IsTruncated>true</IsTruncated><NextContinuationToken>${(pages += 1)}</NextContinuationToken>`
      return HttpResponse.text(`<ListBucketResult>${one || many()}${pages < 200 ? more : ''}</ListBucketResult>`)
    }),
  )
  const connection = 'provider=minio;bucket=packs;endpoint=http://s3.example;access_key=a;secret_key=b'
  const ask = () =>
    call('PUT', '/api/v1/catalog/import-vm', {
      body: { ...manifest, connection, machine_remote_path: 'big.pvm', size: 6 },
    })
  const endless = await ask()
  expect(endless.status, endless.body.message).toBe(400)
  expect(pages).toBeLessThan(150)
  pages = 200
  for (const size of ['-1', '0.5', 'x']) {
    one = object.replace('>1<', `>${size}<`)
    expect((await ask()).status).toBe(502)
  }
})
