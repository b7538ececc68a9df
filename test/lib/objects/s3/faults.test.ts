import { createHash, randomBytes } from 'node:crypto'
import { delay, HttpResponse } from 'msw'
import { beforeEach, describe, expect, test } from 'vitest'
import { createFetcher } from '#lib/objects/http/send.ts'
import type { Provider } from '#lib/objects/port/provider.ts'
import { createS3 } from '#lib/objects/s3/s3.ts'
import { createTestSource } from '../../../contracts/provider.ts'
import { breaking, failure, faultyNetwork } from '../../../support/storage-faults.ts'
import { shortenTimers } from '../../../support/timers.ts'
import { until } from '../../../support/waiting.ts'

const url = 'https://s3.example.test/packs'
const secret = 'the-secret-key-of-all'
const accessKey = 'AKIAEXAMPLE'

const textOf = (stream: ReadableStream<Uint8Array>): Promise<string> => new Response(stream).text()
const hash = (algorithm: string, bytes: Buffer): string => createHash(algorithm).update(bytes).digest('hex')
const said = (code: string): string =>
  `<?xml version="1.0"?><Error><Code>${code}</Code><Message>the key ${accessKey}, ${secret}</Message></Error>`

const { answers } = faultyNetwork()
let s3: Provider
beforeEach(async () => {
  const meta = { bucket: 'packs', endpoint: 'https://s3.example.test', access_key: accessKey, secret_key: secret }
  s3 = await createS3({ type: 'minio', meta }, () => createFetcher({ idleTimeout: 300 }))
})

const status =
  (code: number, word: string, headers = {}) =>
  () =>
    new HttpResponse(said(word), { status: code, headers })
const fine = () => new HttpResponse('pack', { headers: { 'content-length': '4' } })

describe('requests that S3 refuses', () => {
  test.for([
    [401, 'InvalidToken', 'upstream', 'refused the credentials'],
    [403, 'AccessDenied', 'upstream', 'refused the credentials'],
    [403, 'SignatureDoesNotMatch', 'upstream', 'refused the credentials'],
    [403, 'RequestTimeTooSkewed', 'upstream', 'clock'],
    [404, 'NoSuchBucket', 'upstream', 'bucket'],
    [404, 'NoSuchKey', 'not-found', 'no object a'],
    [416, 'InvalidRange', 'invalid', 'all the bytes'],
    [507, 'XMinioStorageFull', 'no-space', 'full'],
    [400, 'InvalidArgument', 'upstream', '400 InvalidArgument'],
    [400, '<script>', 'upstream', '400 for a'],
    [301, 'PermanentRedirect', 'upstream', 'region'],
  ] as const)('%i %s is not retried and is reported as %s', async ([code, word, fault, message]) => {
    const asked = answers(`${url}/a`, status(code, word, { location: 'https://elsewhere.example.test/a' }))
    const error = await failure(s3.read('a'))
    expect(error).toMatchObject({ fault, message: expect.stringContaining(message) })
    expect(error.message).not.toMatch(new RegExp(`${secret}|${accessKey}|script`))
    expect(asked).toHaveLength(1)
  })

  test.each([301, 302, 303, 307, 308])('a redirect to another server (%i) is not followed', async code => {
    const elsewhere = answers('https://elsewhere.example.test/*', fine)
    answers(`${url}*`, status(code, 'TemporaryRedirect', { location: 'https://elsewhere.example.test/a' }))
    const bytes = randomBytes(10)
    for (const ask of [
      () => s3.stat('a'),
      () => s3.read('a'),
      () => s3.write('a', createTestSource(bytes)),
      () => s3.remove('a'),
    ])
      expect(await failure(ask())).toMatchObject({ fault: 'upstream', message: expect.stringContaining('redirect') })
    expect(elsewhere).toHaveLength(0)
  })

  test('a missing object is undefined, and a missing bucket an error', async () => {
    const buckets = answers(
      url,
      () => new HttpResponse(null, { status: 404 }),
      () => new HttpResponse(null),
    )
    answers(`${url}/a`, () => new HttpResponse(null, { status: 404 }))
    expect(await failure(s3.stat('a'))).toMatchObject({ fault: 'upstream', message: expect.stringContaining('bucket') })
    expect(await s3.stat('a')).toBeUndefined()
    expect(await s3.stat('a')).toBeUndefined()
    expect(buckets).toHaveLength(2)
  })
})

test.each(['169.254.169.254', '[fd00:ec2::254]', '[::ffff:169.254.169.254]', '100.100.100.200'])(
  'nothing is sent to %s, a metadata service of a cloud',
  async address => {
    const meta = { bucket: 'packs', endpoint: `http://${address}`, access_key: accessKey, secret_key: secret }
    const storage = await createS3({ type: 'minio', meta }, createFetcher)
    expect(await failure(storage.stat('a'))).toMatchObject({ fault: 'forbidden' })
  },
)

describe('transient errors', () => {
  test('500 and 503 are retried', async () => {
    const asked = answers(`${url}/a`, status(500, 'InternalError'), status(503, 'SlowDown'), fine)
    expect(await textOf(await s3.read('a'))).toBe('pack')
    expect(asked).toHaveLength(3)
  })

  test('429 waits as long as Retry-After says', async () => {
    const asked = answers(`${url}/a`, status(429, 'TooManyRequests', { 'retry-after': '1' }), fine)
    using timers = shortenTimers()
    expect(await textOf(await s3.read('a'))).toBe('pack')
    expect(Math.max(...timers.waits)).toBeGreaterThanOrEqual(1_000)
    expect(asked).toHaveLength(2)
  })

  test('a broken connection is retried', async () => {
    const asked = answers(`${url}/a`, breaking, fine)
    expect(await textOf(await s3.read('a'))).toBe('pack')
    expect(asked).toHaveLength(2)
  })

  test('bytes that were damaged on the way are sent again', async () => {
    const bytes = randomBytes(1_000)
    const asked = answers(`${url}/a`, status(400, 'BadDigest'), () => new HttpResponse(null))
    await s3.write('a', createTestSource(bytes))
    expect(asked).toHaveLength(2)
    for (const request of asked) {
      expect(request.headers.get('content-md5')).toBe(createHash('md5').update(bytes).digest('base64'))
      expect(request.headers.get('authorization')).toMatch(/SignedHeaders=content-md5;host;/)
      expect(Buffer.from(await request.arrayBuffer()).equals(bytes)).toBe(true)
    }
  })

  test('are not retried after an abort', async () => {
    const asked = answers(`${url}/a`, status(503, 'SlowDown', { 'retry-after': '30' }))
    const controller = new AbortController()
    const reading = failure(s3.read('a', { signal: controller.signal }))
    await until(() => expect(asked).toHaveLength(1))
    controller.abort(new Error('not wanted'))
    expect((await reading).message).toBe('not wanted')
    expect(asked).toHaveLength(1)
  })
})

describe('wrong bytes of S3 fail the read', () => {
  const part = { range: { start: 2, end: 6 } }
  const partly = (bytes: string, range: string) => () =>
    new HttpResponse(bytes, {
      status: 206,
      headers: { 'content-range': range, 'content-length': String(bytes.length) },
    })

  test('fewer bytes than Content-Length', async () => {
    answers(`${url}/a`, () => new HttpResponse('pack', { headers: { 'content-length': '5' } }))
    expect(await failure(textOf(await s3.read('a')))).toMatchObject({ fault: 'upstream' })
  })

  test('no Content-Length', async () => {
    answers(`${url}/a`, () => new HttpResponse('pack'))
    expect(await failure(s3.read('a'))).toMatchObject({ fault: 'upstream' })
  })

  test('a body that is cut', async () => {
    const body = () =>
      new ReadableStream({
        start: controller => controller.enqueue(Buffer.from('pa')),
        pull: controller => delay(50).then(() => controller.error(new Error('cut'))),
      })
    answers(`${url}/a`, () => new HttpResponse(body(), { headers: { 'content-length': '4' } }))
    expect(await failure(textOf(await s3.read('a')))).toMatchObject({ fault: 'upstream' })
  })

  test('a body that stops coming', async () => {
    const body = () => new ReadableStream({ start: controller => controller.enqueue(Buffer.from('pa')) })
    answers(`${url}/a`, () => new HttpResponse(body(), { headers: { 'content-length': '4' } }))
    expect(await failure(textOf(await s3.read('a')))).toMatchObject({
      fault: 'upstream',
      message: expect.stringContaining('ETIMEDOUT'),
    })
  })

  test('a request without a reply is retried', async () => {
    const asked = answers(`${url}/a`, () => delay('infinite').then(fine), fine)
    expect(await textOf(await s3.read('a'))).toBe('pack')
    expect(asked).toHaveLength(2)
  })

  test('other bytes than were written', async () => {
    const headers = { 'content-length': '4', 'x-amz-meta-sha256': hash('sha256', Buffer.from('park')) }
    answers(`${url}/a`, () => new HttpResponse('pack', { headers }))
    expect(await failure(textOf(await s3.read('a')))).toMatchObject({
      fault: 'upstream',
      message: expect.stringContaining('SHA-256'),
    })
  })

  test.for<[string, () => Response, string]>([
    ['the whole object instead of a range', fine, 'upstream'],
    ['another range', partly('ackp', 'bytes 1-4/9'), 'upstream'],
    ['a range that ends with the object', partly('ck', 'bytes 2-3/4'), 'invalid'],
  ])('%s', async ([, reply, fault]) => {
    answers(`${url}/a`, reply)
    expect(await failure(s3.read('a', part))).toMatchObject({ fault })
  })
})
