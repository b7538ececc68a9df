import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { createTimeLimit, waitAtMost } from '#lib/async/time-limit.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

describe('waitAtMost', () => {
  test('gives the value of a result that comes in time, and leaves no timer', async () => {
    expect(await waitAtMost(Promise.resolve('done'), 1_000)).toEqual({ value: 'done' })
    expect(vi.getTimerCount()).toBe(0)
  })

  test('gives nothing when the result takes longer, and ignores what becomes of it', async () => {
    const { promise, reject } = Promise.withResolvers<never>()
    const waited = waitAtMost(promise, 1_000)
    await vi.advanceTimersByTimeAsync(1_000)
    expect(await waited).toBeUndefined()
    // An unhandled error would fail this test run.
    reject(new Error('too late'))
    await vi.advanceTimersByTimeAsync(1)
  })

  test('throws what the result fails with', async () => {
    await expect(waitAtMost(Promise.reject(new Error('broken')), 1_000)).rejects.toThrow('broken')
  })
})

describe('createTimeLimit', () => {
  test('aborts its signal with a timeout, or with the other signal', async () => {
    using limit = createTimeLimit(1_000, 'It took too long.')
    await vi.advanceTimersByTimeAsync(1_000)
    expect(limit.signal.reason).toMatchObject({ fault: 'timeout', message: 'It took too long.' })
    const other = new AbortController()
    using both = createTimeLimit(1_000, 'It took too long.', other.signal)
    other.abort(new Error('not wanted'))
    expect(both.signal.reason).toMatchObject({ message: 'not wanted' })
  })
})
