import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { parseRetryAfter } from '#lib/objects/http/retry-after.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

test.each([
  [undefined, 0],
  ['3', 3_000],
  ['86400', 60_000],
  ['Sat, 21 Nov 2026 09:00:20 GMT', 20_000],
  ['Sat, 21 Nov 2026 08:00:00 GMT', 0],
  ['soon', 0],
  ['-5', 0],
])('Retry-After: %s', (header, milliseconds) => {
  vi.setSystemTime(new Date('2026-11-21T09:00:00Z'))
  expect(parseRetryAfter(header)).toBe(milliseconds)
})
