import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { every } from '#lib/async/every.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

test('work is repeated until it is disposed', () => {
  const work = vi.fn<() => void>()
  const timer = every(1_000, work)
  vi.advanceTimersByTime(3_500)
  expect(work).toHaveBeenCalledTimes(3)
  timer[Symbol.dispose]()
  vi.advanceTimersByTime(3_500)
  expect(work).toHaveBeenCalledTimes(3)
})
