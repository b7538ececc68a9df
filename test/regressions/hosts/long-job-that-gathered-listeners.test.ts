import { getEventListeners } from 'node:events'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { noProgress } from '#lib/async/progress.ts'
import type { AskHost } from '#lib/hosts/forward/host-client.ts'
import { createFollowHostJob } from '#lib/hosts/forward/job-of-host.ts'
import type { StoredHost } from '#lib/hosts/stored-host.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const user = { id: 'u', username: 'u', email: '', roles: [], claims: new Set<string>(), superUser: true }

const host: StoredHost = {
  id: crypto.randomUUID(),
  name: 'a',
  url: 'https://a.example.test',
  labels: {},
  drained: false,
  key_hash: '',
  unreachable_published: false,
  created_at: '',
  updated_at: '',
}

test('following a long job of a host leaves one listener on its signal, not one for each poll', async () => {
  const id = crypto.randomUUID()
  const ask: AskHost = async () => ({ status: 200, headers: new Headers(), body: { id, state: 'running' } })
  const follow = createFollowHostJob({ ask, getHost: () => host })
  const cancelled = new AbortController()
  const { signal } = cancelled
  const followed = follow({ host, user, started: { id, state: 'running' }, progress: { ...noProgress, signal } })
  await vi.advanceTimersByTimeAsync(60_000)
  expect(getEventListeners(signal, 'abort')).toHaveLength(1)
  cancelled.abort(new Error('cancelled'))
  const ended = expect(followed).rejects.toThrow('cancelled')
  // The host does not end the job, so this service gives up after a while.
  await vi.advanceTimersByTimeAsync(10 * 60_000)
  await ended
})
