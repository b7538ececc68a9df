import { createFetcher } from '#lib/objects/http/send.ts'
import { hash } from 'node:crypto'
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { HttpResponse, http } from 'msw'
import { afterEach, expect, vi } from 'vitest'
import { parseConnection } from '#lib/objects/port/connection.ts'
import { createS3 } from '#lib/objects/s3/s3.ts'
import { createDownloads } from '#lib/transfers/download/downloads.ts'
import { openRangeDownload } from '#lib/transfers/download/range-download.ts'
import { at } from '../../functions/catalog/packs.ts'
import { noise } from '../../lib/packs/chunk-store/bytes.ts'
import { ServiceError } from '#lib/errors.ts'
import { openWorkFolders } from '#lib/platform/work-folders.ts'
import { bucketConnection, test } from '../../support/servers/memory-bucket.ts'
import { packSource } from '../../support/pack-source.ts'

// No pauses between the tries.
const soon = (): void => void vi.spyOn(Math, 'random').mockReturnValue(0)
afterEach(() => void vi.restoreAllMocks())

const away = () => http.all('http://s3.example/*', () => new HttpResponse(undefined, { status: 503 }))

/** The one folder of a transfer that is kept, and what is in it. */
const keptIn = (folder: string): { path: string; names: string[] } => {
  const root = join(folder, 'state/transfers')
  const [name, ...others] = readdirSync(root)
  expect(others).toEqual([])
  const path = join(root, name!)
  return { path, names: readdirSync(path).sort() }
}

test('a push after a long outage of the storage uploads the pack that it has', async ({
  call,
  folder,
  network,
  bucket,
}) => {
  soon()
  await call('POST', '/api/v1/machines', { body: { name: 'source', cpus: 1, memory: 16, disks: [{ size: 1 }] } })
  const body = { catalog_id: 'demo', version: '1', connection: bucketConnection, uuid: 'source' }
  const push = () => call('POST', '/api/v1/catalog/push', { body })
  network.use(away())
  expect((await push()).status).toBe(502)
  const { path, names } = keptIn(folder)
  expect(names).toEqual(['kept', 'pack', 'pack.json', 'staging'])
  const packed = statSync(join(path, 'pack'))

  network.resetHandlers()
  const uploaded: number[] = []
  network.use(
    http.head('http://s3.example/*', () => new HttpResponse(undefined, { status: 404 })),
    http.get('http://s3.example/*', () => HttpResponse.text('<ListBucketResult></ListBucketResult>')),
    http.put('http://s3.example/*', async ({ request }) => {
      bucket.objects.set(request.url, Buffer.from(await request.arrayBuffer()))
      if (request.url.endsWith('.pdpack')) uploaded.push(statSync(join(path, 'pack')).ino)
      return new HttpResponse()
    }),
    http.delete('http://s3.example/*', () => new HttpResponse(undefined, { status: 204 })),
  )
  const pushed = await push()
  expect(pushed.status, pushed.body.message).toBe(200)
  // Nothing was packed anew: it is the same file.
  expect(uploaded[0]).toBe(packed.ino)
  expect(readdirSync(join(folder, 'state/transfers'))).toEqual([])
})

test('a pull after an outage fetches only what is missing', async ({ call, folder, driver, bucket, network }) => {
  soon()
  const made = await call('POST', '/api/v1/machines', {
    body: { name: 'source', cpus: 1, memory: 16, disks: [{ size: 20 }] },
  })
  const { home, definition } = (await driver.get(made.body.id))!
  writeFileSync(join(home, definition.disks[0]!.path), noise(20 * 2 ** 20, 1))
  const body = { catalog_id: 'demo', version: '1', connection: 'provider=local-storage', uuid: 'source' }
  const pushed = await call('POST', '/api/v1/catalog/push', { body })
  expect(pushed.status, pushed.body.message).toBe(200)
  const local = join(folder, 'catalog/demo')
  for (const name of readdirSync(local)) bucket.objects.set(`demo/${name}`, readFileSync(join(local, name)))
  const moved = await call('PATCH', `${at('demo', '1', 'x86_64')}/connection`, {
    body: { connection: bucketConnection },
  })
  expect(moved.status, moved.body.message).toBe(200)
  const pack = bucket.objects.get('demo/demo-x86_64-1.pdpack')!
  const ranges: string[] = []
  let isAway = true
  network.use(
    http.get('http://s3.example/packs/demo/*.pdpack', ({ request }) => {
      const range = request.headers.get('range')!
      const [, start, end] = /bytes=(\d+)-(\d+)/.exec(range)!.map(Number)
      const [from, to] = [start!, end! + 1]
      if (isAway && from >= 16 * 2 ** 20) return new HttpResponse(undefined, { status: 503 })
      // The look at how it begins is no piece.
      if (to > 100) ranges.push(range)
      const headers = { 'content-length': String(to - from), 'content-range': `bytes ${from}-${to - 1}/${pack.length}` }
      return new HttpResponse(new Uint8Array(pack.subarray(from, to)), { status: 206, headers })
    }),
  )
  const pull = () =>
    call('PUT', '/api/v1/catalog/pull', { body: { catalog_id: 'demo', version: '1', machine_name: 'copy' } })
  expect((await pull()).status).toBe(502)
  expect(keptIn(folder).names).toEqual(['kept', 'pack', 'pieces'])
  const first = ranges.splice(0)
  isAway = false
  const pulled = await pull()
  expect(pulled.status, pulled.body.message).toBe(200)
  expect(first).toHaveLength(2)
  expect(ranges).toHaveLength(1)
  expect(first).not.toContain(ranges[0])
  expect(readdirSync(join(folder, 'state/transfers'))).toEqual([])
})

test('a range is requested ten times, without retries inside of retries', async ({ folder, network }) => {
  soon()
  let asked = 0
  network.use(
    http.get('http://s3.example/*', () => {
      asked += 1
      return new HttpResponse(undefined, { status: 503 })
    }),
  )
  const provider = await createS3(parseConnection(bucketConnection).storage!, createFetcher)
  const { source } = packSource(Buffer.alloc(1000, 'x'), undefined)
  const controller = new AbortController()
  const read = { ...source, read: (range: never, signal: AbortSignal) => provider.read('demo/pack', { range, signal }) }
  const pieces = await openRangeDownload(read, folder, { signal: controller.signal, onProgress: () => {} })
  await expect(pieces.waitFor(0)).rejects.toMatchObject({ fault: 'upstream' })
  expect(await pieces.close()).toBe(true)
  expect(asked).toBe(10)
})

test('chunks that were fetched before an outage are not fetched again', async ({ folder }) => {
  soon()
  const root = join(folder, 'work')
  const downloads = createDownloads(await openWorkFolders(root))
  const all = ['one', 'other'].map(text => ({ text, sha256: hash('sha256', text), size: text.length }))
  const asked: string[] = []
  let isAway = true
  const { source } = packSource(Buffer.alloc(1), undefined)
  const chunked = {
    ...source,
    async readStoredChunk({ sha256 }: { sha256: string }) {
      const chunk = all.find(one => one.sha256 === sha256)!
      if (isAway && chunk.text === 'other') throw new ServiceError('upstream', 'The storage is away.')
      asked.push(chunk.text)
      return Buffer.from(new TextEncoder().encode(chunk.text))
    },
  }
  const fetchAll = async (): Promise<string[]> => {
    const { signal } = new AbortController()
    await using lease = await downloads.leaseChunks(chunked, { signal, onProgress: () => {} })
    const bytes: string[] = []
    for (const chunk of all) bytes.push((await lease.fetchChunk(chunk, signal)).toString())
    return bytes
  }
  await expect(fetchAll()).rejects.toMatchObject({ fault: 'upstream' })
  expect(readdirSync(root)).toHaveLength(1)
  isAway = false
  expect(await fetchAll()).toEqual(['one', 'other'])
  expect(asked).toEqual(['one', 'other'])
  expect(readdirSync(root)).toEqual([])
})
