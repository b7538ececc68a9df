import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { ServiceError } from '#lib/errors.ts'
import { TransientError, withRetry } from '#lib/async/retry.ts'

describe('withRetry', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  const transient = (after = 0) => new TransientError('busy', undefined, after)

  test('makes ten attempts at most, with growing pauses', async () => {
    vi.spyOn(Math, 'random').mockReturnValue(0.5)
    const made: number[] = []
    const attempt = async (): Promise<void> => {
      made.push(Date.now())
      throw transient()
    }
    const begun = Date.now()
    const done = expect(withRetry(attempt)).rejects.toThrow('busy')
    await vi.runAllTimersAsync()
    await done
    expect(made.map(time => time - begun)).toEqual([0, 100, 300, 700, 1_500, 3_100, 6_300, 12_700, 22_700, 32_700])
  })

  test('waits as long as the server asks', async () => {
    const begun = Date.now()
    let made = 0
    const done = withRetry(async () => {
      made += 1
      if (made === 1) throw transient(7_000)
      return Date.now() - begun
    })
    await vi.runAllTimersAsync()
    expect(await done).toBeGreaterThanOrEqual(7_000)
  })

  test('does not retry a permanent error', async () => {
    const attempt = vi.fn<() => Promise<void>>(async () => {
      throw new ServiceError('upstream', 'no')
    })
    await expect(withRetry(attempt)).rejects.toThrow('no')
    expect(attempt).toHaveBeenCalledTimes(1)
  })

  test('stops after an abort, also within a pause', async () => {
    const attempt = vi.fn<() => Promise<void>>(async () => {
      throw transient(30_000)
    })
    const controller = new AbortController()
    const done = expect(withRetry(attempt, controller.signal)).rejects.toThrow('not wanted')
    await vi.advanceTimersByTimeAsync(10_000)
    controller.abort(new Error('not wanted'))
    await done
    expect(vi.getTimerCount()).toBe(0)
    await expect(withRetry(attempt, controller.signal)).rejects.toThrow('not wanted')
    expect(attempt).toHaveBeenCalledTimes(1)
  })
})
