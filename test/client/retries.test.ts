import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { createClient, VmhostError } from '#lib/client/client.ts'
import { json, lostConnection, scriptFetch, streamOf } from './scripted-fetch.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const url = 'https://host-1.example.test:8443'
const busy = (seconds?: number) => () =>
  json({ message: 'later' }, 503, seconds === undefined ? {} : { 'Retry-After': String(seconds) })

/** Lets all pauses pass, and gives what the call came to. */
const settle = async <T>(call: Promise<T>): Promise<{ readonly value?: T; readonly error?: unknown }> => {
  const settled = call.then(
    value => ({ value }),
    (error: unknown) => ({ error }),
  )
  await vi.runAllTimersAsync()
  return settled
}

describe('a call', () => {
  test('is repeated after a lost connection and while the service is busy, with the same Idempotency-Key', async () => {
    const { fetch, requests } = scriptFetch(lostConnection, busy(), lostConnection, () => json({ status: 'Success' }))
    const { api } = createClient({ url, fetch })
    const { value } = await settle(api.machines.start({ params: { id: 'demo' } }))
    expect(value).toEqual({ status: 'Success' })
    expect(requests.map(({ method, url: asked }) => `${method} ${asked}`)).toEqual(
      Array<string>(4).fill(`PUT ${url}/api/v1/machines/demo/start`),
    )
    const keys = new Set(requests.map(({ headers }) => headers.get('idempotency-key')))
    expect([...keys]).toEqual([expect.stringMatching(/^[!-~]{8,255}$/)])
  })

  test('has a key of its own, the given one, or none if it only reads', async () => {
    const { fetch, requests } = scriptFetch(() => json([]))
    const { api, send } = createClient({ url, fetch })
    await api.machines.pause({ params: { id: 'demo' } })
    await api.machines.pause({ params: { id: 'demo' } })
    await api.machines.pause({ params: { id: 'demo' }, idempotencyKey: 'mine' })
    await api.machines.list()
    await send({ method: 'POST', path: '/api/v1/auth/roles', headers: { 'Idempotency-Key': 'theirs' } })
    const keys = requests.map(({ headers }) => headers.get('idempotency-key'))
    expect(keys.slice(2)).toEqual(['mine', null, 'theirs'])
    expect(new Set(keys.slice(0, 2)).size).toBe(2)
  })

  test('has no key of its own if it is sent once', async () => {
    const { fetch, requests } = scriptFetch(() => json({}))
    await createClient({ url, fetch, retries: 0 }).api.machines.pause({ params: { id: 'demo' } })
    await createClient({ url, fetch }).send({ method: 'POST', path: '/api/v1/machines', body: streamOf(['{}']) })
    expect(requests.map(({ headers }) => headers.get('idempotency-key'))).toEqual([null, null])
  })

  test('waits as long as Retry-After says', async () => {
    const { fetch, requests } = scriptFetch(busy(7), () => json([]))
    const call = createClient({ url, fetch }).api.machines.list()
    await vi.advanceTimersByTimeAsync(6_999)
    expect(requests).toHaveLength(1)
    await vi.advanceTimersByTimeAsync(1)
    expect(await call).toEqual([])
  })

  test('leaves a long Retry-After to the caller', async () => {
    const { fetch, requests } = scriptFetch(() => json({ message: 'locked' }, 429, { 'Retry-After': '900' }))
    const { error } = await settle(createClient({ url, fetch }).api.machines.list())
    expect(error).toMatchObject({ status: 429, message: 'locked' })
    expect((error as VmhostError).headers.get('retry-after')).toBe('900')
    expect(requests).toHaveLength(1)
  })

  test('ends after some repetitions with the last failure', async () => {
    const lost = scriptFetch(lostConnection)
    expect(await settle(createClient({ url, fetch: lost.fetch }).api.machines.list())).toEqual({
      error: new TypeError('fetch failed'),
    })
    expect(lost.requests).toHaveLength(5)
    const refusing = scriptFetch(busy())
    const { error } = await settle(createClient({ url, fetch: refusing.fetch, retries: 1 }).api.machines.list())
    expect(error).toMatchObject({ name: 'VmhostError', status: 503 })
    expect(refusing.requests).toHaveLength(2)
  })

  test('that changes something is not repeated after 502 and 504; one that reads is', async () => {
    for (const status of [502, 504]) {
      const { fetch, requests } = scriptFetch(() => json({ message: 'no' }, status))
      const { api } = createClient({ url, fetch })
      expect((await settle(api.machines.start({ params: { id: 'x' } }))).error).toMatchObject({ status })
      expect(requests).toHaveLength(1)
      expect((await settle(api.machines.list())).error).toMatchObject({ status })
      expect(requests).toHaveLength(6)
    }
  })

  test('with a stream as its body is sent once', async () => {
    const { fetch, requests } = scriptFetch(lostConnection)
    const { send } = createClient({ url, fetch })
    expect(await settle(send({ method: 'PUT', path: '/x', body: streamOf(['a', 'b']) }))).toHaveProperty('error')
    expect(requests).toHaveLength(1)
    expect(await requests[0]!.text()).toBe('ab')
  })

  test('ends with the reason of its signal, also in a pause', async () => {
    const { fetch, requests } = scriptFetch(lostConnection)
    const abort = new AbortController()
    const call = createClient({ url, fetch }).api.machines.list({ signal: abort.signal })
    const failed = expect(call).rejects.toThrow('enough')
    await vi.advanceTimersByTimeAsync(1)
    abort.abort(new Error('enough'))
    await failed
    expect(requests).toHaveLength(1)
  })

  test('tells all of a refusal, and what a proxy has answered', async () => {
    const body = { code: 400, message: 'not valid', stack: [{ code: 400, error: 'too short', path: 'name' }] }
    const { fetch } = scriptFetch(
      () => json(body, 400, { 'X-Request-Id': 'r1' }),
      () => new Response('<h1>no</h1>', { status: 404 }),
    )
    const { api } = createClient({ url, fetch })
    const refused = await api.roles.create({ body: { name: '' } }).catch((error: unknown) => error)
    expect(refused).toBeInstanceOf(VmhostError)
    expect(refused).toBeInstanceOf(Error)
    expect(refused).toMatchObject({ message: 'not valid', status: 400, code: 400, details: body.stack, body })
    expect((refused as VmhostError).headers.get('x-request-id')).toBe('r1')
    await expect(api.machines.list()).rejects.toMatchObject({
      message: 'The service answered with 404.',
      code: 404,
      body: '<h1>no</h1>',
      details: [],
    })
  })
})
