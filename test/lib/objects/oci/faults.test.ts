import { createHash, randomBytes } from 'node:crypto'
import { delay, http, HttpResponse } from 'msw'
import { setupServer } from 'msw/node'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { createFetcher } from '#lib/objects/http/send.ts'
import { createOci } from '#lib/objects/oci/oci.ts'
import { shortenTimers } from '../../../support/timers.ts'

const root = 'https://registry.example.test/v2/packs'
const password = 'the-password-of-somebody'
const bytes = randomBytes(200_000)
const sha256 = (of: Buffer): string => createHash('sha256').update(of).digest('hex')
const digest = `sha256:${sha256(bytes)}`
const manifest = {
  artifactType: 'application/vnd.vmhost.object.v1',
  layers: [{ mediaType: 'application/octet-stream', digest, size: bytes.length }],
  annotations: {
    'org.opencontainers.image.title': 'a',
    'org.opencontainers.image.created': '2026-11-21T08:00:00.000Z',
    'vnd.vmhost.object.sha256': sha256(bytes),
  },
}
const answered = (status: number, headers: Record<string, string> = {}) => new HttpResponse(null, { status, headers })

// By default the registry has the object `a`; tests override single requests.
const network = setupServer(
  http.get(`${root}/manifests/a`, () => HttpResponse.json(manifest)),
  http.get(`${root}/manifests/*`, () => answered(404)),
  http.get(`${root}/blobs/${digest}`, () => new HttpResponse(new Uint8Array(bytes))),
)
beforeAll(() => network.listen({ onUnhandledFrame: 'error' }))
afterEach(() => network.resetHandlers())
afterAll(() => network.close())

const open = (meta: Record<string, string> = {}, idleTimeout = 20_000) =>
  createOci(
    {
      type: 'oci',
      meta: { registry: 'registry.example.test', repository: 'packs', username: 'clerk', password, ...meta },
    },
    { fetcher: createFetcher({ idleTimeout }) },
  )
const blob = (answer: () => Response | Promise<Response>, once = false) =>
  network.use(http.get(`${root}/blobs/${digest}`, answer, { once }))
const source = (of: Buffer) => ({
  size: of.length,
  read: ({ start, end }: { start: number; end: number }) =>
    new Blob([new Uint8Array(of.subarray(start, end))]).stream(),
})
const read = async (idleTimeout?: number): Promise<Buffer> => {
  const chunks: Uint8Array[] = []
  for await (const chunk of await (await open({}, idleTimeout)).read('a')) chunks.push(chunk)
  return Buffer.concat(chunks)
}
const fails = (words: string) => ({ fault: 'upstream', message: expect.stringContaining(words) })

describe('faults of a registry', () => {
  test('none: the object is read', async () => expect((await read()).equals(bytes)).toBe(true))

  test.each([
    ['401 that asks for Basic', 401, 'Basic realm="packs"', 'refused the credentials'],
    ['401 that asks for nothing', 401, '', 'not known: none'],
    ['403', 403, '', 'refused the credentials'],
  ])('%s: reported without the credentials', async (_, status, challenge, words) => {
    network.use(http.all(`${root}/*`, () => answered(status, challenge ? { 'WWW-Authenticate': challenge } : {})))
    const provider = await open()
    for (const attempt of [() => provider.stat('a'), () => provider.write('b', source(bytes))]) {
      const error = await attempt().catch((thrown: unknown) => thrown)
      expect(error).toMatchObject(fails(words))
      expect((error as Error).message).not.toContain(password)
    }
  })

  test('a missing blob is an error of the storage, and not a missing object', async () => {
    blob(() => answered(404))
    await expect(read()).rejects.toMatchObject(fails('404'))
  })

  test('429: waits as long as Retry-After says', async () => {
    blob(() => answered(429, { 'Retry-After': '1' }), true)
    using timers = shortenTimers()
    expect((await read()).equals(bytes)).toBe(true)
    expect(Math.max(...timers.waits)).toBeGreaterThanOrEqual(1_000)
  })

  test('500, then success: the request is retried', async () => {
    blob(() => answered(500), true)
    expect((await read()).equals(bytes)).toBe(true)
  })

  test.each([
    ['fewer bytes', bytes.subarray(1), 'fewer than'],
    ['more bytes', Buffer.concat([bytes, bytes]), 'more than'],
    ['other bytes', randomBytes(bytes.length), 'SHA-256'],
  ])('%s: the stream fails', async (_, sent, words) => {
    blob(() => new HttpResponse(new Uint8Array(sent)))
    await expect(read()).rejects.toMatchObject(fails(words))
  })

  test.each([
    ['breaks off', (target: ReadableStreamDefaultController) => target.error(new Error('cut')), 20_000, 'broke off'],
    ['never ends', () => new Promise<void>(() => undefined), 300, 'nothing came or went for 0.3 s'],
  ])('a body that %s: the stream fails', async (_, then, idleTimeout, words) => {
    const headers = { 'Content-Length': String(bytes.length) }
    const start = (target: ReadableStreamDefaultController) => target.enqueue(new Uint8Array(10))
    const pull = (target: ReadableStreamDefaultController) => delay(50).then(() => then(target))
    blob(() => new HttpResponse(new ReadableStream({ start, pull }), { headers }))
    await expect(read(idleTimeout)).rejects.toMatchObject(fails(words))
  })

  test('a manifest that does not match its digest is refused', async () => {
    const headers = { 'Docker-Content-Digest': `sha256:${'0'.repeat(64)}` }
    network.use(http.get(`${root}/manifests/a`, () => HttpResponse.json(manifest, { headers })))
    await expect(read()).rejects.toMatchObject(fails('damaged'))
  })

  test('a redirect of a read is followed without the credentials', async () => {
    const shown: (string | null)[] = []
    network.use(
      http.all(`${root}/*`, ({ request }) =>
        request.headers.has('authorization') ? undefined : answered(401, { 'WWW-Authenticate': 'Basic realm=packs' }),
      ),
      http.get('https://127.0.0.9/signed', ({ request }) => {
        shown.push(request.headers.get('authorization'))
        return new HttpResponse(new Uint8Array(bytes))
      }),
    )
    network.use(
      http.get(`${root}/blobs/${digest}`, ({ request }) => {
        shown.push(request.headers.get('authorization'))
        return HttpResponse.redirect('https://127.0.0.9/signed', 307)
      }),
    )
    expect((await read()).equals(bytes)).toBe(true)
    expect(shown).toEqual([`Basic ${btoa(`clerk:${password}`)}`, null])
  })

  test('a token service without TLS gets no credentials', async () => {
    const challenge = 'Bearer realm="http://127.0.0.9/token",service="packs",scope="repository:packs:pull"'
    network.use(http.get(`${root}/manifests/a`, () => answered(401, { 'WWW-Authenticate': challenge })))
    await expect(read()).rejects.toMatchObject(fails('unprotected'))
  })

  test('a next page of tags on another server is not requested', async () => {
    const headers = { Link: '<https://127.0.0.9/tags>; rel="next"' }
    network.use(http.get(`${root}/tags/list`, () => HttpResponse.json({ tags: ['a'] }, { headers })))
    const list = async () => {
      for await (const _ of (await open()).list('')) continue
    }
    await expect(list()).rejects.toMatchObject(fails('somewhere else'))
  })

  test('tags come in pages, and tags that are not objects are left out', async () => {
    network.use(
      http.get(`${root}/tags/list`, ({ request }) =>
        new URL(request.url).searchParams.has('last')
          ? HttpResponse.json({ tags: ['a', 'gone', 'copy'] })
          : HttpResponse.json(
              { tags: ['latest'] },
              { headers: { Link: '</v2/packs/tags/list?last=latest>; rel="next"' } },
            ),
      ),
      http.get(`${root}/manifests/copy`, () => HttpResponse.json(manifest)),
      http.get(`${root}/manifests/latest`, () => HttpResponse.json({ schemaVersion: 2, layers: [] })),
    )
    const listed: string[] = []
    for await (const { path } of (await open()).list('')) listed.push(path)
    expect(listed).toEqual(['a'])
    expect(await (await open()).stat('copy')).toBeUndefined()
    const refused = expect((await open()).write('latest', source(bytes))).rejects
    await refused.toMatchObject({ fault: 'conflict', message: expect.stringContaining('something else under the tag') })
  })
})

test.each([
  ['registry', 'https://u:secret@registry.example.test'],
  ['registry', 'registry.example.test/path'],
  ['repository', '../secret'],
  ['repository', 'Packs'],
])('refuses an invalid %s: %s', async (key, value) => {
  const refused = expect(open({ [key]: value })).rejects
  await refused.toMatchObject({ fault: 'invalid', message: expect.not.stringContaining('secret') })
})
