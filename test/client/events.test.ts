import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { createClient } from '#lib/client/client.ts'
import { type Answer, json, lostConnection, scriptFetch, streamOf } from './scripted-fetch.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const url = 'https://host-1.example.test:8443'
const cursor = (seq: number): string => `5c1f0b2e-${seq}`
const eventText = (seq: number): string =>
  `id: ${cursor(seq)}\ndata: ${JSON.stringify({ seq, message: `événement ${seq}`, cursor: cursor(seq) })}\n\n`
const greeting = (seq: number): string => `id: ${cursor(seq)}\nretry: 2000\n\n`
const stream =
  (end: 'ends' | 'breaks' | 'stays', ...pieces: readonly (string | Uint8Array)[]): Answer =>
  () =>
    new Response(streamOf(pieces, end), { headers: { 'Content-Type': 'text/event-stream' } })

const sinceOf = ({ url: asked }: Request): string | null => new URL(asked).searchParams.get('since')

/** Reads events until there are so many, through all pauses. */
const read = async (count: number, ...script: readonly Answer[]) => {
  const { fetch, requests } = scriptFetch(...script)
  const abort = new AbortController()
  const events = createClient({ url, token: 'abc', fetch }).events({ types: ['pdfm', 'auth'], signal: abort.signal })
  const found: { seq?: number; message: string; event_type?: string; cursor?: string }[] = []
  const reading = (async () => {
    while (found.length < count) found.push((await events.next()).value)
  })()
  await vi.advanceTimersByTimeAsync(600_000)
  await reading
  return { found, seqs: found.map(({ seq }) => seq), requests, events, abort }
}

describe('events', () => {
  test('come in order from pieces that are cut anywhere', async () => {
    const bytes = new TextEncoder().encode(greeting(4) + ': still here\n\n' + eventText(5) + eventText(6))
    const single = Array.from(bytes, (_, at) => bytes.slice(at, at + 1))
    const { found, requests } = await read(2, stream('stays', ...single))
    expect(found.map(({ message }) => message)).toEqual(['événement 5', 'événement 6'])
    expect(new URL(requests[0]!.url).search).toBe('?types=pdfm%2Cauth')
    expect(requests[0]!.headers.get('authorization')).toBe('Bearer abc')
  })

  test('go on after the last one that was complete, however the connection ends', async () => {
    const { seqs, requests } = await read(
      4,
      stream('breaks', greeting(4), eventText(5), eventText(6).slice(0, 30)),
      lostConnection,
      stream('ends', greeting(5), eventText(6), eventText(7)),
      () => json({ message: 'it stops' }, 503),
      stream('stays', greeting(7), eventText(8)),
    )
    expect(seqs).toEqual([5, 6, 7, 8])
    expect(requests.map(sinceOf)).toEqual([null, cursor(5), cursor(5), cursor(7), cursor(7)])
  })

  test('that happen before the first one is seen are not missed', async () => {
    const { seqs, requests } = await read(1, stream('breaks', greeting(4)), stream('stays', eventText(5)))
    expect(seqs).toEqual([5])
    expect(requests.map(sinceOf)).toEqual([null, cursor(4)])
  })

  test('that are gone are reported as a gap', async () => {
    const gap = `id: ${cursor(9)}\nevent: gap\ndata: {"cursor":"${cursor(9)}"}\n\n`
    const { found } = await read(2, stream('stays', greeting(9), gap, eventText(10)))
    expect(found[0]).toEqual({ event_type: 'gap', message: 'gap', cursor: cursor(9) })
    expect(found[1]).toMatchObject({ seq: 10 })
  })

  test('come over a new connection after a silence', async () => {
    const { seqs, requests } = await read(
      2,
      stream('stays', greeting(4), eventText(5)),
      stream('stays', greeting(5), eventText(6)),
    )
    expect(seqs).toEqual([5, 6])
    expect(requests[0]!.signal.aborted).toBe(true)
    expect(requests.map(sinceOf)).toEqual([null, cursor(5)])
  })

  test('of a service that only greets are asked for less and less often', async () => {
    const { fetch, requests } = scriptFetch(stream('ends', greeting(4)))
    const abort = new AbortController()
    const ended = expect(createClient({ url, fetch }).events({ signal: abort.signal }).next()).rejects.toThrow('enough')
    await vi.advanceTimersByTimeAsync(60_000)
    // Six times in the first ten seconds or so, and then every five to ten seconds.
    expect(requests.length).toBeLessThan(20)
    abort.abort(new Error('enough'))
    await ended
  })

  test('end with a refusal', async () => {
    const { fetch } = scriptFetch(() => json({ message: 'no such cursor' }, 400))
    await expect(createClient({ url, fetch }).events({ since: 'x' }).next()).rejects.toMatchObject({ status: 400 })
  })

  test('end with the reason of the signal, and disconnect when the loop is left', async () => {
    const { events, abort } = await read(1, stream('stays', greeting(4), eventText(5)))
    const next = expect(events.next()).rejects.toThrow('enough')
    abort.abort(new Error('enough'))
    await next
    const other = await read(1, stream('stays', greeting(4), eventText(5)))
    await other.events.return(undefined as never)
    expect(other.requests[0]!.signal.aborted).toBe(true)
  })
})
