import { createFetcher } from '#lib/objects/http/send.ts'
import { randomBytes } from 'node:crypto'
import { http, HttpResponse } from 'msw'
import { setupServer } from 'msw/node'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createOci } from '#lib/objects/oci/oci.ts'

const root = 'https://registry.example.test/v2/packs'
const bytes = randomBytes(200_000)
const answered = (status: number, headers: Record<string, string> = {}) => new HttpResponse(null, { status, headers })

const network = setupServer(
  http.get(`${root}/manifests/b`, () => answered(404)),
  http.head(`${root}/blobs/*`, () => answered(404)),
)
beforeAll(() => network.listen({ onUnhandledFrame: 'error' }))
afterEach(() => network.resetHandlers())
afterAll(() => network.close())

const open = () =>
  createOci(
    { type: 'oci', meta: { registry: 'registry.example.test', repository: 'packs' } },
    { fetcher: createFetcher() },
  )
const source = (of: Buffer) => ({
  size: of.length,
  read: ({ start, end }: { start: number; end: number }) =>
    new Blob([new Uint8Array(of.subarray(start, end))]).stream(),
})
const fails = (words: string) => ({ fault: 'upstream', message: expect.stringContaining(words) })

describe('an upload of a blob', () => {
  const uploadUrl = `${root}/blobs/uploads/one`
  const begun: string[] = []
  const ended: string[] = []
  let manifests = 0
  beforeEach(() => {
    begun.length = ended.length = manifests = 0
    network.use(
      http.post(`${root}/blobs/uploads/`, () => (begun.push('POST'), answered(202, { Location: uploadUrl }))),
      http.put(
        uploadUrl,
        ({ request }) => (ended.push(new URL(request.url).searchParams.get('digest')!), answered(201)),
      ),
      http.put(`${root}/manifests/b`, () => ((manifests += 1), answered(201))),
    )
  })

  test('resumes after a broken connection at the offset that the registry reports', async () => {
    const got: Buffer[] = []
    network.use(
      http.patch(uploadUrl, async ({ request }) => {
        const sent = Buffer.from(await request.arrayBuffer())
        if (got.length === 0) {
          got.push(sent.subarray(0, 150_000))
          return answered(502)
        }
        if (sent.length > 2) expect(request.headers.get('content-range')).toBe('150000-199999')
        got.push(sent)
        return answered(202, { Location: uploadUrl })
      }),
      http.get(uploadUrl, () => answered(204, { Location: uploadUrl, Range: '0-149999' })),
    )
    await (await open()).write('b', source(bytes))
    expect(Buffer.concat(got).subarray(0, bytes.length).equals(bytes)).toBe(true)
    expect([begun.length, ended.length, manifests]).toEqual([2, 2, 1])
  })

  test('starts again when the registry has forgotten it', async () => {
    let tries = 0
    network.use(
      http.patch(uploadUrl, async ({ request }) => {
        await request.arrayBuffer()
        return (tries += 1) === 1 ? answered(502) : answered(202, { Location: uploadUrl })
      }),
      http.get(uploadUrl, () => answered(404)),
    )
    await (await open()).write('b', source(bytes))
    expect([begun.length, tries, manifests]).toEqual([3, 3, 1])
  })

  test('succeeds when the reply to its completion was lost and the blob exists', async () => {
    network.use(
      http.patch(uploadUrl, () => answered(202, { Location: uploadUrl })),
      http.put(uploadUrl, () => (ended.push('lost'), answered(404))),
      http.head(`${root}/blobs/*`, () => answered(ended.length > 0 ? 200 : 404)),
    )
    await (await open()).write('b', source(bytes))
    expect(manifests).toBe(1)
  })

  test('writes no manifest when the registry refuses a layer', async () => {
    network.use(
      http.patch(uploadUrl, async ({ request }) =>
        (await request.arrayBuffer()).byteLength > 2 ? answered(400) : answered(202, { Location: uploadUrl }),
      ),
    )
    await expect((await open()).write('b', source(bytes))).rejects.toMatchObject(fails('400'))
    expect(manifests).toBe(0)
  })

  test.each([
    ['to http', 'http://registry.example.test/v2/packs/blobs/uploads/one', 'from https to http'],
    ['to an invalid address', '', 'invalid address'],
  ])('fails when the registry redirects it %s', async (_, Location, words) => {
    network.use(http.post(`${root}/blobs/uploads/`, () => answered(202, Location ? { Location } : {})))
    await expect((await open()).write('b', source(bytes))).rejects.toMatchObject(fails(words))
    expect(manifests).toBe(0)
  })
})
