import { createFetcher } from '#lib/objects/http/send.ts'
import { HttpResponse, http } from 'msw'
import { expect } from 'vitest'
import { createChunkReader } from '#lib/catalog/chunk-download.ts'
import { createIndexParser } from '#lib/packs/chunks/index-parser.ts'
import { parseConnection } from '#lib/objects/port/connection.ts'
import { createS3 } from '#lib/objects/s3/s3.ts'
import type { ManifestRow } from '#lib/catalog/view.ts'
import type { Storages } from '#lib/objects/storages.ts'
import type { TransferContext } from '#lib/transfers/context.ts'
import { createTransfers } from '#lib/transfers/transfers.ts'
import { createKeyedMutex } from '#lib/async/keyed-mutex.ts'
import { test } from '../../support/harness.ts'

/** What is held until it is let go, and how much of it there was at once. */
const held = () => {
  const waiting: PromiseWithResolvers<void>[] = []
  return {
    waiting,
    hold: async (): Promise<never> => {
      const one = Promise.withResolvers<void>()
      waiting.push(one)
      await one.promise
      throw new Error('let go')
    },
  }
}
const settled = (): Promise<void> => new Promise(resolve => void setImmediate(resolve))

test('the number of concurrent transfers of a user is limited, without an effect on other users', async () => {
  const { waiting, hold } = held()
  const context = { catalog: { withLock: createKeyedMutex() }, folders: { open: hold }, architecture: 'arm64' }
  const transfers = createTransfers(context as unknown as TransferContext)
  const work = { plan() {}, begin() {}, end() {}, advance() {} }
  const push = (id: string, version: number) => {
    const request = { catalog_id: 'demo', version: String(version), connection: 'provider=local-storage', tags: [] }
    return transfers.push({ id, superUser: true } as never, request as never, work as never).catch(() => {})
  }
  const all = Array.from({ length: 20 }, (_, at) => push('one', at))
  await settled()
  expect(waiting).toHaveLength(8)
  all.push(push('other', 100))
  await settled()
  expect(waiting).toHaveLength(9)
  for (let at = 0; at < 21; at += 1) {
    await settled()
    waiting[at]!.resolve()
  }
  await Promise.all(all)
  expect(waiting).toHaveLength(21)
})

test.for([
  ['one chunk index read at once of a storage', 1, () => 'local'],
  ['four of all storages', 4, (at: number) => `storage-${at}`],
] as const)('a user has %s', async ([, most, storageOf]) => {
  const { waiting, hold } = held()
  const storages = { open: async () => ({ read: hold }) } as unknown as Storages
  const chunks = createChunkReader({ storages, indexParser: createIndexParser(() => expect.unreachable()) })
  const asked = Array.from({ length: 5 }, (_, at) => {
    const provider = { meta: { catalog_path: storageOf(at) } }
    const manifest = { path: '/x', pack_filename: 'x', pack_sha256: String(at), provider }
    return chunks
      .open('one', manifest as unknown as ManifestRow, 'a'.repeat(64), new AbortController().signal)
      .catch(() => {})
  })
  for (let at = 0; at < 5; at += 1) {
    await settled()
    expect(waiting).toHaveLength(Math.min(at + most, 5))
    waiting[at]!.resolve()
  }
  await Promise.all(asked)
})

test('an endless list of the parts of an upload is an error', async ({ network }) => {
  let pages = 0
  network.use(
    http.get('http://s3.example/*', ({ request }) => {
      if (!new URL(request.url).searchParams.has('part-number-marker')) return HttpResponse.text('upload')
      pages += 1
      const part = `<Part><PartNumber>${20_000 + pages}</PartNumber><ETag>x</ETag></Part>`
      const next = `<NextPartNumberMarker>${pages % 2}${pages}</NextPartNumberMarker>`
      if (pages === 100) return new HttpResponse(undefined, { status: 403 })
      return HttpResponse.text(`<List>${part}<IsTruncated>true</IsTruncated>${next}</List>`)
    }),
    http.all('http://s3.example/*', () => new HttpResponse()),
  )
  const connection = 'provider=minio;bucket=packs;endpoint=http://s3.example;access_key=a;secret_key=b'
  const provider = await createS3(parseConnection(connection).storage!, createFetcher)
  const size = 9 * 2 ** 20
  const source = { size, read: () => new Blob([new Uint8Array(size)]).stream() }
  await provider.write('demo/pack', source, { sha256: 'a'.repeat(64) }).catch(() => {})
  expect(pages).toBeLessThan(100)
})
