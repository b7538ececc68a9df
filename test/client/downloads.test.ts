import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { createClient } from '#lib/client/client.ts'
import { type Answer, json, lostConnection, scriptFetch, streamOf } from './scripted-fetch.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const url = 'https://host-1.example.test:8443'
const content = 'abcdefghijklmnopqrstuvwxyz'

/** Serves the content as the service does, and loses the connection after so many bytes of each reply. */
const serve =
  (bytes: number, etag = '"1"'): Answer =>
  ({ headers }) => {
    const [, first = '0', last = '25'] = /^bytes=(\d+)-(\d*)$/.exec(headers.get('range') ?? '') ?? []
    const [start, end] = [Number(first), Number(last || 25) + 1]
    const part = content.slice(start, Math.min(end, start + bytes))
    return new Response(streamOf(part.match(/.{1,4}/g) ?? [], start + bytes < end ? 'breaks' : 'ends'), {
      status: headers.has('range') ? 206 : 200,
      headers: {
        'Content-Type': 'application/octet-stream',
        ETag: etag,
        ...(headers.has('range') && { 'Content-Range': `bytes ${start}-${end - 1}/26` }),
      },
    })
  }

const download = async (script: readonly Answer[], headers?: Record<string, string>) => {
  const { fetch, requests } = scriptFetch(...script)
  const params = { catalogId: 'web', version: '1', architecture: 'x86_64' }
  const bytes = await createClient({ url, fetch }).api.catalog.download({ params, query: { content: 'pack' }, headers })
  const read = new Response(bytes).text().catch((error: unknown) => error)
  await vi.advanceTimersByTimeAsync(600_000)
  return { read: await read, ranges: requests.map(request => request.headers.get('range')) }
}

describe('a download', () => {
  test('goes on after the last byte when the connection is lost', async () => {
    const { read, ranges } = await download([serve(10), lostConnection, serve(9), serve(99)])
    expect(read).toBe(content)
    expect(ranges).toEqual([null, 'bytes=10-', 'bytes=10-', 'bytes=19-'])
  })

  test('of a range stays in the range', async () => {
    const { read, ranges } = await download([serve(5)], { Range: 'bytes=3-17' })
    expect(read).toBe(content.slice(3, 18))
    expect(ranges).toEqual(['bytes=3-17', 'bytes=8-17', 'bytes=13-17'])
  })

  test('fails when the content has changed meanwhile', async () => {
    const { read } = await download([serve(10), serve(99, '"2"')])
    expect(read).toMatchObject({ status: 412, message: 'The content has changed.' })
  })

  test('fails with a refusal, and after several failures in a row', async () => {
    expect((await download([serve(10), () => json({ message: 'gone' }, 404)])).read).toMatchObject({ message: 'gone' })
    const { read, ranges } = await download([serve(10), () => json({ message: 'busy' }, 503)])
    expect(read).toMatchObject({ status: 503 })
    expect(ranges.length).toBeLessThan(40)
  })

  test('that is cancelled disconnects', async () => {
    let isCancelled = false
    const body = new ReadableStream({ cancel: () => void (isCancelled = true) })
    const { fetch } = scriptFetch(
      () => new Response(body, { headers: { 'Content-Type': 'application/octet-stream', ETag: '"1"' } }),
    )
    const params = { catalogId: 'web', version: '1', architecture: 'x86_64' }
    const bytes = await createClient({ url, fetch }).api.catalog.download({ params, query: { content: 'pack' } })
    await bytes.cancel()
    expect(isCancelled).toBe(true)
  })
})
