import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { createClient } from '#lib/client/client.ts'
import { json, lostConnection, scriptFetch } from './scripted-fetch.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const url = 'https://host-1.example.test:8443'
const job = (state: string, updated: number, more: object = {}) => ({
  id: 'j1',
  state,
  updated_at: `2026-01-02T03:04:0${updated}Z`,
  ...more,
})
const running = (updated: number) => () => json(job('running', updated))

describe('following a job', () => {
  test('gives it when it has completed, and each change before', async () => {
    const done = job('completed', 3, { result: { status: 'Success' } })
    const { fetch, requests } = scriptFetch(running(1), running(1), running(2), () => json(done))
    const { api, follow } = createClient({ url, fetch })
    const changes: string[] = []
    const followed = follow('j1', { onChange: ({ updated_at: at }) => void changes.push(at) })
    await vi.runAllTimersAsync()
    expect(await followed).toEqual(done)
    expect(changes.map(at => at.at(-2))).toEqual(['1', '2', '3'])
    expect(new Set(requests.map(({ url: asked }) => asked))).toEqual(new Set([`${url}/api/v1/jobs/j1`]))
    expect(api).toBeDefined()
  })

  test('goes on while the service is away for long', async () => {
    const away = Array.from({ length: 40 }, () => lostConnection)
    const { fetch } = scriptFetch(running(1), ...away, () => json(job('completed', 2)))
    const followed = createClient({ url, fetch }).follow({ id: 'j1' })
    await vi.advanceTimersByTimeAsync(600_000)
    expect(await followed).toMatchObject({ state: 'completed' })
  })

  test('fails as the call would have failed', async () => {
    const failed = job('failed', 2, { error: 'The machine is running.', code: 409 })
    const { fetch } = scriptFetch(() => json(failed))
    await expect(createClient({ url, fetch }).follow('j1')).rejects.toMatchObject({
      name: 'VmhostError',
      status: 409,
      message: 'The machine is running.',
      body: { job: failed },
    })
  })

  test('ends when the job is not there, and with its signal', async () => {
    const { fetch } = scriptFetch(() => json({ message: 'no such job' }, 404), running(1))
    const { follow } = createClient({ url, fetch })
    await expect(follow('j1')).rejects.toMatchObject({ status: 404 })
    const abort = new AbortController()
    const ended = expect(follow('j1', { signal: abort.signal })).rejects.toThrow('enough')
    await vi.advanceTimersByTimeAsync(10_000)
    abort.abort(new Error('enough'))
    await ended
  })
})
