import { randomBytes } from 'node:crypto'
import { delay, http, HttpResponse, type RequestHandler } from 'msw'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { headersOf, key, openArtifactory, root, useArtifactory } from '../../../support/servers/artifactory.ts'
import { outlastIdle } from '../../../support/silence.ts'
import { shortenTimers } from '../../../support/timers.ts'

const server = useArtifactory()
afterEach(() => void vi.restoreAllMocks())
const source = (bytes: Buffer) => ({ size: bytes.length, read: () => new Blob([new Uint8Array(bytes)]).stream() })
const bytesOf = async (stream: ReadableStream<Uint8Array>): Promise<Buffer> => {
  const chunks: Uint8Array[] = []
  for await (const chunk of stream) chunks.push(chunk)
  return Buffer.concat(chunks)
}

describe('faults of an Artifactory', () => {
  const bytes = randomBytes(200_000)
  /** A provider whose server fails for the object `a` only. */
  const broken = async (handler: RequestHandler, idle?: number) => {
    const provider = await openArtifactory(undefined, idle)
    server.network.use(handler)
    return provider
  }
  const get = (answer: () => Response | Promise<Response>, once = false) => http.get(`${root}a`, answer, { once })

  test.each([401, 403])('%i: refused credentials are reported without naming them', async status => {
    const provider = await broken(http.all(`${root}a`, () => new HttpResponse(key, { status })))
    const tries = [() => provider.stat('a'), () => provider.read('a'), () => provider.write('a', source(bytes))]
    for (const attempt of tries) {
      const error = await attempt().catch((thrown: unknown) => thrown)
      expect(error).toMatchObject({ fault: 'upstream', message: expect.stringContaining('refused the credentials') })
      expect((error as Error).message).not.toContain(key)
    }
  })

  test('404: the object is missing', async () => {
    await expect((await openArtifactory()).read('a')).rejects.toMatchObject({ fault: 'not-found' })
  })

  test('429: waits as long as Retry-After says', async () => {
    server.objects.set('a', bytes)
    const busy = () => new HttpResponse(null, { status: 429, headers: { 'Retry-After': '1' } })
    const provider = await broken(get(busy, true))
    using timers = shortenTimers()
    expect((await bytesOf(await provider.read('a'))).equals(bytes)).toBe(true)
    expect(Math.max(...timers.waits)).toBeGreaterThanOrEqual(1_000)
  })

  test('500, then success: an upload is sent again from its beginning', async () => {
    const provider = await broken(http.put(`${root}a`, () => new HttpResponse(null, { status: 500 }), { once: true }))
    await provider.write('a', source(bytes))
    expect(server.objects.get('a')?.equals(bytes)).toBe(true)
  })

  test('500 for ever: fails after ten attempts', async () => {
    const { random } = Math
    // The pause before an attempt is a random part of its maximum.
    vi.spyOn(Math, 'random').mockImplementation(() => random() / 10_000)
    let asked = 0
    const provider = await broken(get(() => ((asked += 1), new HttpResponse(null, { status: 500 }))))
    await expect(provider.read('a')).rejects.toMatchObject({
      fault: 'upstream',
      message: expect.stringContaining('500'),
    })
    expect(asked).toBe(10)
  })

  test('507: the storage is full', async () => {
    const provider = await broken(http.put(`${root}a`, () => new HttpResponse(null, { status: 507 })))
    await expect(provider.write('a', source(bytes))).rejects.toMatchObject({ fault: 'no-space' })
  })

  test('a broken connection: the request is retried', async () => {
    server.objects.set('a', bytes)
    const cut = () =>
      new HttpResponse(
        new ReadableStream({
          pull() {
            throw new Error('cut')
          },
        }),
      )
    const provider = await broken(get(cut, true))
    expect((await bytesOf(await provider.read('a'))).equals(bytes)).toBe(true)
  })

  test.each([
    ['fewer bytes than it says', bytes.subarray(1), headersOf(bytes)],
    ['bytes that are not those of its checksum', randomBytes(bytes.length), headersOf(bytes)],
  ])('%s: the stream fails', async (_, sent, headers) => {
    const provider = await broken(
      get(() => new HttpResponse(new Uint8Array(sent), { headers })),
      300,
    )
    await expect(bytesOf(await provider.read('a'))).rejects.toMatchObject({ fault: 'upstream' })
  })

  test('a body that is cut: the stream fails', async () => {
    const cut = Promise.withResolvers<never>()
    const half = () => {
      const stream = new ReadableStream({
        start: controller => controller.enqueue(new Uint8Array(10)),
        pull: controller => cut.promise.catch((error: unknown) => controller.error(error)),
      })
      return new HttpResponse(stream, { headers: headersOf(bytes) })
    }
    const reader = (await (await broken(get(half))).read('a')).getReader()
    expect((await reader.read()).value).toHaveLength(10)
    cut.reject(new Error('cut'))
    await expect(reader.read()).rejects.toMatchObject({
      fault: 'upstream',
      message: expect.stringContaining('broke off'),
    })
  })

  test('a body that stalls: the stream fails after the idle timeout', async () => {
    const slow = () => {
      const stream = new ReadableStream({ start: controller => controller.enqueue(new Uint8Array(10)) })
      return new HttpResponse(stream, { headers: headersOf(bytes) })
    }
    const provider = await broken(get(slow), 300)
    await expect(bytesOf(await provider.read('a'))).rejects.toThrow('nothing came or went for 0.3 s')
  })

  test('no reply: the request is retried after the idle timeout', async () => {
    server.objects.set('a', bytes)
    const silent = async () => {
      await delay('infinite')
      return HttpResponse.error()
    }
    const provider = await broken(get(silent, true), 300)
    expect((await bytesOf(await provider.read('a'))).equals(bytes)).toBe(true)
  })

  test('a slow reader does not count as an idle server', async () => {
    server.objects.set('a', bytes)
    const reader = (await (await openArtifactory(undefined, 400)).read('a')).getReader()
    let size = (await reader.read()).value!.length
    await outlastIdle(500)
    for (let next = await reader.read(); !next.done; next = await reader.read()) size += next.value.length
    expect(size).toBe(bytes.length)
  })

  test.each([
    ['another range than was requested', 206, 'bytes 1-11/200000'],
    ['the whole object instead of a range', 200, ''],
  ])('%s: refused', async (_, status, range) => {
    const answer = () =>
      new HttpResponse(new Uint8Array(bytes), { status, headers: { ...headersOf(bytes), 'Content-Range': range } })
    const provider = await broken(get(answer))
    await expect(provider.read('a', { range: { start: 0, end: 10 } })).rejects.toMatchObject({ fault: 'upstream' })
  })

  test('a redirect of a read is followed without the credentials', async () => {
    const elsewhere: Headers[] = []
    const provider = await broken(get(() => HttpResponse.redirect('https://127.0.0.9/signed?by=them', 302)))
    server.network.use(
      http.get('https://127.0.0.9/signed', ({ request }) => {
        elsewhere.push(request.headers)
        return new HttpResponse(new Uint8Array(bytes))
      }),
    )
    expect((await bytesOf(await provider.read('a'))).equals(bytes)).toBe(true)
    expect(elsewhere[0]!.get('x-jfrog-art-api')).toBeNull()
    expect([...elsewhere[0]!.values()].join()).not.toContain(key)
  })

  test.each([
    ['to http', 'http://127.0.0.9/a', 'from https to http'],
    ['to the metadata service of a cloud', 'https://169.254.169.254/a', 'not allowed'],
    ['to a file', 'file:///etc/passwd', 'invalid address'],
    ['in a circle', `${root}a`, 'without end'],
  ])('a redirect of a read %s is not followed', async (_, location, words) => {
    const provider = await broken(get(() => new HttpResponse(null, { status: 302, headers: { Location: location } })))
    await expect(provider.read('a')).rejects.toMatchObject({
      fault: 'upstream',
      message: expect.stringContaining(words),
    })
  })

  test('a redirect of a write is not followed', async () => {
    const provider = await broken(http.put(`${root}a`, () => HttpResponse.redirect('https://127.0.0.9/', 307)))
    await expect(provider.write('a', source(bytes))).rejects.toThrow('not followed')
  })

  test.each([
    ['a url with credentials', { url: 'https://u:secret@packs.example.test' }],
    ['a url of another kind', { url: 'ftp://packs.example.test' }],
    ['a repository with a path out of the server', { repo: '../secret' }],
  ])('%s: refused', async (_, meta) => {
    const refused = expect(openArtifactory({ access_key: key, ...meta })).rejects
    await refused.toMatchObject({ fault: 'invalid', message: expect.not.stringContaining('secret@') })
  })
})
