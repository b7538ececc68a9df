import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { http, passthrough } from 'msw'
import { describe, expect } from 'vitest'
import { createOutgoing } from '#lib/platform/outgoing.ts'
import type { SendOutgoing } from '#lib/platform/outgoing-request.ts'
import { type Answer, type Call, test as base } from '../../support/harness.ts'

const test = base.extend<{ outgoing: SendOutgoing }>({
  // oxlint-disable-next-line no-empty-pattern -- vitest reads the fixtures that are used off the pattern
  outgoing: async ({}, use) => use(createOutgoing({ allowed: ['127.0.0.1'] })),
})

const cache = (folder: string): string => join(folder, 'state/cache')

/** Pushes a machine whose disk has the version as text. */
const pushed = async (call: Call, version: string, more: object = {}): Promise<void> => {
  const name = `source-${version}`
  await call('POST', '/api/v1/machines', { body: { name, cpus: 1, memory: 16, disks: [{ size: 1 }] } })
  const body = { catalog_id: 'demo', version, connection: 'provider=local-storage', uuid: name, ...more }
  expect((await call('POST', '/api/v1/catalog/push', { body })).status).toBe(200)
}
let pulls = 0
const pull = (call: Call, version: string): Promise<Answer> =>
  call('PUT', '/api/v1/catalog/pull', { body: { catalog_id: 'demo', version, machine_name: `copy-${(pulls += 1)}` } })
const list = async (call: Call, as?: string[]) => (await call('GET', '/api/v1/catalog/cache', as && { as })).body
const versions = async (call: Call): Promise<string[]> =>
  (await list(call)).map((one: { version: string }) => one.version)

/** Starts an HTTP server on this host. */
const startService = async (answer: RequestListener) => {
  const server = createServer(answer)
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}`, [Symbol.dispose]: () => void server.close() }
}

// oxlint-disable-next-line no-empty-pattern -- as above
const small = test.extend<{ cacheBudget: number }>({ cacheBudget: async ({}, use) => use(10_000) })

describe('the cache', () => {
  test('stores a pulled machine, so the next pull does not need the pack', async ({ call, folder }) => {
    await pushed(call, '1')
    const first = await pull(call, '1')
    expect(first.body.local_cache_path).toContain(cache(folder))
    rmSync(join(folder, 'catalog/demo/demo-x86_64-1.pdpack.pack.json'))
    const file = join(folder, 'catalog/demo/demo-x86_64-1.pdpack')
    const size = readFileSync(file).length
    writeFileSync(file, Buffer.alloc(size))
    const second = await pull(call, '1')
    expect(second.status, second.body.message).toBe(200)
    const disk = (path: string): Buffer => readFileSync(join(path, 'disk0.img'))
    expect(disk(second.body.local_path).equals(disk(first.body.local_path))).toBe(true)
    const [item] = await list(call)
    expect(item).toMatchObject({
      catalog_id: 'demo',
      version: '1',
      name: 'demo-x86_64-1',
      cache_used_count: 1,
      cache_type: 'folder',
      cache_local_path: cache(folder),
      cache_date: expect.any(String),
      cache_last_used: expect.any(String),
    })
    expect(item.cache_size).toBeGreaterThan(0)
    expect(readdirSync(cache(folder))).toEqual([item.cache_file_name])
    // The machine is a copy: changes of it do not reach the cache.
    writeFileSync(join(second.body.local_path, 'disk0.img'), 'written by the guest')
    expect(disk((await pull(call, '1')).body.local_path).equals(disk(first.body.local_path))).toBe(true)
  })

  test('fetches a damaged item again', async ({ call, folder }) => {
    await pushed(call, '1')
    const first = (await pull(call, '1')).body
    writeFileSync(join(first.local_cache_path, 'disk0.img'), 'rotten')
    const second = await pull(call, '1')
    expect(second.status).toBe(200)
    expect(readFileSync(join(second.body.local_path, 'disk0.img'))).toEqual(
      readFileSync(join(first.local_path, 'disk0.img')),
    )
    expect((await list(call))[0]).toMatchObject({ cache_used_count: 0 })
    expect(readdirSync(cache(folder))).toHaveLength(1)
  })

  small('keeps to its budget: what was not used the longest goes first', async ({ call, folder }) => {
    for (const version of ['1', '2', '3']) await pushed(call, version)
    await pull(call, '1')
    const [{ cache_size: size }] = await list(call)
    const fits = Math.floor(10_000 / size)
    expect(fits).toBeLessThan(3)
    await pull(call, '2')
    await pull(call, '3')
    expect(await versions(call)).toEqual(['3', '2', '1'].slice(0, fits))
    expect(readdirSync(cache(folder))).toHaveLength(fits)
  })

  test('is deleted by version, by catalog id, and as a whole', async ({ call, folder }) => {
    for (const version of ['1', '2', '3']) {
      await pushed(call, version)
      await pull(call, version)
    }
    const remove = (path: string) => call('DELETE', `/api/v1${path}`)
    expect(await remove('/catalog/cache/demo/2')).toMatchObject({ status: 202, body: { code: 202 } })
    expect(await versions(call)).toEqual(['3', '1'])
    for (const path of ['/catalog/cache/demo/2', '/catalog/cache/other', '/cache/other/1'])
      expect((await remove(path)).status, path).toBe(404)
    expect((await remove('/cache/DEMO/ALL')).status).toBe(202)
    expect(await list(call)).toEqual([])
    await pull(call, '1')
    expect((await remove('/catalog/cache')).status).toBe(202)
    expect((await remove('/catalog/cache')).status).toBe(202)
    expect(readdirSync(cache(folder))).toEqual([])
    expect((await call('GET', '/api/v1/catalog')).body).toHaveLength(3)
  })

  test('does not show items of hidden manifests', async ({ call, folder }) => {
    await pushed(call, '1', { required_claims: ['LAB'] })
    await pull(call, '1')
    expect(await list(call, ['LIST_CACHE'])).toEqual([])
    expect(await list(call, ['LIST_CACHE', 'LAB'])).toHaveLength(1)
    expect((await call('DELETE', '/api/v1/catalog/cache/demo', { as: ['DELET_CACHE_ITEM'] })).status).toBe(404)
    await call('DELETE', '/api/v1/catalog/cache', { as: ['DELETE_ALL_CACHE'] })
    expect(existsSync((await pull(call, '1')).body.local_cache_path)).toBe(true)
    expect(readdirSync(cache(folder))).toHaveLength(1)
  })

  test('follows the present rights of a manifest', async ({ call }) => {
    const place = '/api/v1/catalog/demo/1/x86_64'
    await pushed(call, '1')
    await pull(call, '1')
    expect(await list(call, ['LIST_CACHE'])).toHaveLength(1)
    await call('PATCH', `${place}/claims`, { body: { required_claims: ['LAB'] } })
    expect(await list(call, ['LIST_CACHE'])).toEqual([])
    expect(await list(call, ['LIST_CACHE', 'LAB'])).toHaveLength(1)
    expect((await call('DELETE', '/api/v1/catalog/cache/demo', { as: ['DELET_CACHE_ITEM'] })).status).toBe(404)
    await call('DELETE', `${place}/claims`, { body: { required_claims: ['LAB'] } })
    expect(await list(call, ['LIST_CACHE'])).toHaveLength(1)
    // Another manifest of the same pack gives no access. Only super users see items of a deleted manifest.
    const body = (await call('GET', place)).body[0]
    const register = { ...body, version: '2' }
    expect((await call('POST', '/api/v1/catalog', { body: register })).status).toBe(200)
    await call('DELETE', `${place}?clean_remote=false`)
    expect(await list(call, ['LIST_CACHE'])).toEqual([])
    expect(await list(call)).toHaveLength(1)
  })

  test('gives nothing to a caller who knows only a digest', async ({ call, network, driver }) => {
    await pushed(call, '1', { required_claims: ['LAB'] })
    const { pack_sha256, pack_size } = (await pull(call, '1')).body.manifest
    const before = (await driver.list()).length
    // A service of the caller, which shows the manifest but does not have the pack.
    const theirs = { catalog_id: 'MINE', name: 'mine', version: '1', architecture: 'x86_64', type: 'qemu' }
    network.use(http.all('http://127.0.0.1:*', () => passthrough()))
    using service = await startService((request, response) => {
      if (!request.url!.includes('content='))
        return void response
          .setHeader('content-type', 'application/json')
          .end(JSON.stringify({ ...theirs, pack_sha256 }))
      const [, first, last] = /bytes=(\d+)-(\d+)/.exec(request.headers.range ?? '') ?? []
      if (first === undefined) return void response.writeHead(404).end()
      const [start, end] = [Number(first), Number(last)]
      response.writeHead(206, {
        'content-type': 'application/octet-stream',
        'content-range': `bytes ${start}-${end}/${pack_size}`,
      })
      response.end(Buffer.alloc(end - start + 1))
    })
    const asked = (as: string[], machine_name: string) =>
      call('PUT', '/api/v1/catalog/pull', {
        as,
        body: { catalog_id: 'mine', version: '1', machine_name, connection: `host=key@${service.url}` },
      })
    expect((await asked(['PULL_CATALOG_MANIFEST'], 'stolen')).status).toBe(502)
    expect(await driver.list()).toHaveLength(before)
    expect((await asked(['PULL_CATALOG_MANIFEST', 'LAB'], 'mine')).status).toBe(200)
  })

  test('serves the pack of another catalog to callers to whom that catalog shows it, and lists it for nobody else', async ({
    call,
    network,
    folder,
  }) => {
    await pushed(call, '1')
    const [{ pack_filename: file, pack_sha256 }] = (await call('GET', '/api/v1/catalog/demo/1/x86_64')).body
    const pack = readFileSync(join(folder, 'catalog/demo', file))
    const told = { catalog_id: 'X', name: 'x', version: '1', architecture: 'x86_64', type: 'qemu', pack_sha256 }
    network.use(http.all('http://127.0.0.1:*', () => passthrough()))
    const serve = (bytes: Buffer, asked: string[] = []): RequestListener => {
      return (request, response) => {
        const [, first, last] = /bytes=(\d+)-(\d+)/.exec(request.headers.range ?? '') ?? []
        if (!request.url!.includes('content='))
          return void response.setHeader('content-type', 'application/json').end(JSON.stringify(told))
        if (first === undefined) return void response.writeHead(404).end()
        asked.push(`${first}-${last}`)
        response.writeHead(206, {
          'content-type': 'application/octet-stream',
          'content-range': `bytes ${first}-${last}/${bytes.length}`,
        })
        response.end(bytes.subarray(Number(first), Number(last) + 1))
      }
    }
    const asked: string[] = []
    using theirs = await startService(serve(pack, asked))
    using lying = await startService(serve(Buffer.alloc(pack.length)))
    const pullFrom = (who: string, url: string, machine_name: string) =>
      call('PUT', '/api/v1/catalog/pull', {
        as: [who, 'PULL_CATALOG_MANIFEST'],
        body: { catalog_id: 'x', version: '1', machine_name, connection: `host=key@${url}` },
      })
    expect((await pullFrom('PULL_OWN_CACHE', theirs.url, 'first')).status).toBe(200)
    const fetched = asked.length
    expect((await pullFrom('other', lying.url, 'stolen')).status).toBe(502)
    expect(await list(call, ['other', 'LIST_CACHE'])).toEqual([])
    expect(await list(call, ['LIST_CACHE'])).toHaveLength(1)
    expect((await pullFrom('other', theirs.url, 'second')).status).toBe(200)
    // Only the size was requested again.
    expect(asked.slice(fetched)).toEqual(['0-0'])
  })

  test('publishes an event for each added and removed item', async ({ call }) => {
    await pushed(call, '1')
    await pull(call, '1')
    await call('DELETE', '/api/v1/cache/demo')
    const { events } = (await call('GET', '/api/v1/events?types=catalog_cache', { as: ['LIST_CACHE'] })).body
    expect(events.map(({ message }: { message: string }) => message)).toEqual([
      'CACHE_ITEM_ADDED',
      'CACHE_ITEM_REMOVED',
    ])
    expect(events[0].body).toMatchObject({
      catalog_id: 'demo',
      version: '1',
      architecture: 'x86_64',
      cache_type: 'folder',
    })
  })
})
