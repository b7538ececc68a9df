import { createHash, randomBytes } from 'node:crypto'
import { delay, HttpResponse } from 'msw'
import { beforeEach, describe, expect, test } from 'vitest'
import { createAzure } from '#lib/objects/azure/azure.ts'
import { createFetcher } from '#lib/objects/http/send.ts'
import type { Provider } from '#lib/objects/port/provider.ts'
import { readBytes, createTestSource } from '../../../contracts/provider.ts'
import { breaking, failure, faultyNetwork } from '../../../support/storage-faults.ts'
import { shortenTimers } from '../../../support/timers.ts'

const MiB = 1024 * 1024
const url = 'https://packaccount.blob.core.windows.net/packs'
const key = Buffer.from('the key of the account').toString('base64')

const { answers } = faultyNetwork()
let azure: Provider
beforeEach(async () => {
  const meta = { storage_account_name: 'packaccount', container_name: 'packs', storage_account_key: key }
  azure = await createAzure({ type: 'azure-storage-account', meta }, createFetcher({ idleTimeout: 300 }))
})

const status =
  (code: number, word: string, headers = {}) =>
  () =>
    new HttpResponse(`<Error><Code>${word}</Code><Message>${key}</Message></Error>`, {
      status: code,
      headers: { 'x-ms-error-code': word, ...headers },
    })
const pack = (body: string | ReadableStream, length = 4, more = {}) =>
  new HttpResponse(body, { headers: { 'content-length': String(length), etag: '"1"', ...more } })
const fine = () => pack('pack')
const read = async (): Promise<string> => (await readBytes(await azure.read('a'))).toString()

test.for([
  [401, 'NoAuthenticationInformation', 'upstream', 'refused the credentials'],
  [403, 'AuthenticationFailed', 'upstream', 'refused the credentials'],
  [404, 'ContainerNotFound', 'upstream', 'container'],
  [404, 'BlobNotFound', 'not-found', 'no object a'],
  [416, 'InvalidRange', 'invalid', 'all the bytes'],
  [409, 'BlobArchived', 'upstream', '409 BlobArchived'],
] as const)('%i %s is not retried and is reported as %s', async ([code, word, fault, message]) => {
  const asked = answers(`${url}/a`, status(code, word))
  const error = await failure(azure.read('a'))
  expect(error).toMatchObject({ fault, message: expect.stringContaining(message) })
  expect(error.message).not.toContain(key)
  expect(asked).toHaveLength(1)
})

test.each([301, 302, 303, 307, 308])('a redirect to another server (%i) is not followed', async code => {
  const elsewhere = answers('https://elsewhere.example.test/*', fine)
  answers(`${url}/*`, status(code, 'Moved', { location: 'https://elsewhere.example.test/a' }))
  for (const ask of [
    () => azure.stat('a'),
    () => azure.read('a'),
    () => azure.write('a', createTestSource(randomBytes(10))),
    () => azure.remove('a'),
  ])
    expect(await failure(ask())).toMatchObject({ fault: 'upstream', message: expect.stringContaining('redirect') })
  expect(elsewhere).toHaveLength(0)
})

describe('transient errors', () => {
  test('500 and 503 are retried', async () => {
    const asked = answers(`${url}/a`, status(500, 'InternalError'), status(503, 'ServerBusy'), fine)
    expect(await read()).toBe('pack')
    expect(asked).toHaveLength(3)
  })

  test('429 waits as long as Retry-After says', async () => {
    const asked = answers(`${url}/a`, status(429, 'TooManyRequests', { 'retry-after': '1' }), fine)
    using timers = shortenTimers()
    expect(await read()).toBe('pack')
    expect(Math.max(...timers.waits)).toBeGreaterThanOrEqual(1_000)
    expect(asked).toHaveLength(2)
  })

  test('a broken connection is retried', async () => {
    const asked = answers(`${url}/a`, breaking, fine)
    expect(await read()).toBe('pack')
    expect(asked).toHaveLength(2)
  })

  test('a request without a reply is retried', async () => {
    const asked = answers(`${url}/a`, () => delay('infinite').then(fine), fine)
    expect(await read()).toBe('pack')
    expect(asked).toHaveLength(2)
  })

  test('bytes that were damaged on the way are sent again', async () => {
    const bytes = randomBytes(9 * MiB)
    const asked = answers(
      `${url}/a`,
      status(404, 'BlobNotFound'),
      status(400, 'Md5Mismatch'),
      () => new HttpResponse(null, { status: 201 }),
    )
    await azure.write('a', createTestSource(bytes))
    const what = asked.map(({ url, method }) => [method, new URL(url).searchParams.get('comp')].join(' '))
    expect(what.sort()).toEqual(['GET blocklist', 'PUT block', 'PUT block', 'PUT block', 'PUT blocklist'])
    for (const block of asked.filter(({ url }) => url.includes('comp=block&')))
      expect(block.headers.get('content-md5')).toBe(
        createHash('md5')
          .update(Buffer.from(await block.arrayBuffer()))
          .digest('base64'),
      )
  })
})

test('an MD5 in hex, as other clients store it, is accepted', async () => {
  const md5 = '0123456789abcdef0123456789abcdef'
  answers(`${url}/a`, () => pack('', 0, { 'content-md5': Buffer.from(md5).toString('base64') }))
  expect(await azure.stat('a')).toMatchObject({ size: 0, md5 })
})

test('a list has many pages, and only objects are in it', async () => {
  const page =
    (next: string, ...names: readonly string[]) =>
    () => {
      const blobs = names.map(name => `<Blob><Name>${name}</Name><Properties></Properties></Blob>`)
      const text = `<EnumerationResults><Blobs>${blobs.join('')}</Blobs><NextMarker>${next}</NextMarker></EnumerationResults>`
      const headers = { 'content-type': 'application/xml' }
      return new HttpResponse(`<?xml version="1.0" encoding="utf-8"?>${text}`, { headers })
    }
  const asked = answers(url, page('more', 'a', 'folder/'), status(503, 'ServerBusy'), page('', 'b&amp;c', 'd//e'))
  const found: string[] = []
  for await (const { path } of azure.list('')) found.push(path)
  expect(found).toEqual(['a', 'b&c'])
  expect(asked.map(({ url }) => new URL(url).searchParams.get('marker'))).toEqual([null, 'more', 'more'])
})

test.each([
  ['a page of a proxy', '<html><body>Sign in<br></body></html>'],
  ['no text', ''],
  ['XML that cannot be parsed', '<EnumerationResults><Blobs <Blob'],
])('%s is not a list', async (_, text) => {
  answers(url, () => new HttpResponse(text))
  const first = azure.list('')[Symbol.asyncIterator]().next()
  expect(await failure(first)).toMatchObject({ fault: 'upstream', message: expect.stringMatching(/not a list|XML/) })
})

test('a size that is missing is an error', async () => {
  answers(`${url}/a`, () => new HttpResponse(null))
  expect(await failure(azure.stat('a'))).toMatchObject({ fault: 'upstream' })
})

test.for<[string, () => Response]>([
  ['fewer bytes than it said', () => pack('pack', 5)],
  [
    'a body that is cut',
    () =>
      pack(
        new ReadableStream({
          start: controller => controller.enqueue(Buffer.from('pa')),
          pull: controller => delay(50).then(() => controller.error(new Error('cut'))),
        }),
      ),
  ],
  ['a body that stops coming', () => pack(new ReadableStream({ start: stream => stream.enqueue(Buffer.from('pa')) }))],
  ['no length', () => new HttpResponse('pack', { headers: { etag: '"1"' } })],
  ['other bytes than were written', () => pack('pack', 4, { 'x-ms-meta-sha256': 'a'.repeat(64) })],
])('%s', async ([, reply]) => {
  answers(`${url}/a`, reply)
  expect(await failure(read())).toMatchObject({ fault: 'upstream' })
})
