import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { passthrough, http } from 'msw'
import { describe, expect } from 'vitest'
import { createOutgoing } from '#lib/platform/outgoing.ts'
import { type Call, test as base } from '../../support/harness.ts'

/** Starts a service that shows one manifest as an object, not as an array, and does not send the bytes of packs. */
const startService = async (manifest: () => object) => {
  const asked: string[] = []
  const server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url} ${String(request.headers['x-api-key'])}`)
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify(manifest()))
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return { asked, port, [Symbol.dispose]: () => void server.close() }
}

const test = base.extend<{ outgoing: ReturnType<typeof createOutgoing> }>({
  // oxlint-disable-next-line no-empty-pattern -- vitest reads the fixtures that are used off the pattern
  outgoing: async ({}, use) => use(createOutgoing({ allowed: ['127.0.0.1'] })),
})

/** Writes a pack as such a service does: a gzipped tar without its end, and a description with an MD5. */
const writePack = async (call: Call, folder: string): Promise<string> => {
  await call('POST', '/api/v1/machines', { body: { name: 'source', cpus: 1, memory: 16, disks: [{ size: 1 }] } })
  const body = {
    catalog_id: 'demo',
    version: '1',
    connection: 'provider=local-storage',
    uuid: 'source',
    compress_pack: true,
  }
  const { pack_filename: name } = (await call('POST', '/api/v1/catalog/push', { body })).body[0]
  const tar = gunzipSync(readFileSync(join(folder, 'catalog/demo', name)))
  const theirs = join(folder, 'theirs/demo')
  mkdirSync(theirs, { recursive: true })
  const pack = gzipSync(tar.subarray(0, tar.length - 1024))
  writeFileSync(join(theirs, 'demo-x86_64-1.pdpack'), pack)
  const md5 = createHash('md5').update(pack).digest('hex')
  writeFileSync(join(theirs, 'demo-x86_64-1.meta'), JSON.stringify({ compressed_checksum: md5 }))
  rmSync(join(folder, 'catalog'), { recursive: true })
  await call('DELETE', '/api/v1/catalog/demo?clean_remote=false')
  return theirs
}

describe('the catalog of a service of another kind', () => {
  test('is pulled from its storage, and verified by the stored digest', async ({ call, folder, network }) => {
    network.use(http.all('http://127.0.0.1:*', () => passthrough()))
    const theirs = await writePack(call, folder)
    using service = await startService(() => ({
      name: 'demo-x86_64-1',
      id: 'ab'.repeat(32),
      catalog_id: 'DEMO',
      version: '1',
      architecture: 'x86_64',
      type: 'qemu',
      path: '/demo',
      pack_filename: 'demo-x86_64-1.pdpack',
      metadata_filename: 'demo-x86_64-1.meta',
      provider: { type: 'local-storage', meta: { catalog_path: '/theirs', access_key: 'storage-secret-of-theirs' } },
    }))
    const pull = (machine_name: string) =>
      call('PUT', '/api/v1/catalog/pull', {
        body: {
          catalog_id: 'demo',
          version: '1',
          machine_name,
          connection: `host=the-key@http://127.0.0.1:${service.port};provider=local-storage;catalog_path=${join(folder, 'theirs')}`,
        },
      })
    const { status, body } = await pull('pulled')
    expect(status, body.message).toBe(200)
    expect(body.manifest).toMatchObject({ catalog_id: 'DEMO', name: 'demo-x86_64-1', tags: [] })
    expect(JSON.stringify(body)).not.toContain('storage-secret-of-theirs')
    expect(readFileSync(join(body.local_path, 'disk0.img'), 'utf8')).toContain('disk of')
    expect(service.asked.every(line => line.endsWith(' the-key'))).toBe(true)

    // The header by which another vmhost counts the download once.
    const [job] = (await call('GET', '/api/v1/jobs')).body
    expect(service.asked.filter(line => line.includes(`/download?job=${job.id} `))).toHaveLength(1)

    const pack = join(theirs, 'demo-x86_64-1.pdpack')
    writeFileSync(pack, gzipSync(gunzipSync(readFileSync(pack)), { level: 1 }))
    const rotten = await pull('rotten')
    expect(rotten.status, rotten.body.message).toBe(502)
    expect(readdirSync(join(folder, 'state/transfers'))).toEqual([])
  })
})
