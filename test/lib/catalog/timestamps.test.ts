import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createClock } from '#lib/catalog/timestamps.ts'

const noon = Date.UTC(2026, 5, 1, 12)
beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'], now: noon }))
afterEach(() => void vi.useRealTimers())

test('the clock gives unique, increasing times, also when the host’s clock is set back', () => {
  const clock = createClock([])
  const times = Array.from({ length: 3_000 }, () => clock.next())
  vi.setSystemTime(noon - 3_600_000)
  times.push(...Array.from({ length: 1_500 }, () => clock.next()))
  expect(times).toEqual([...new Set(times)].toSorted())
  expect(times[0]).toBe('2026-06-01T12:00:00.000000Z')
})

test('the clock continues after the times of before a restart', () => {
  const given = ['2026-06-01T12:30:00.000999Z', '2026-05-01T00:00:00Z', 'no time at all']
  const clock = createClock(given)
  expect(clock.next()).toBe('2026-06-01T12:30:00.001000Z')
  vi.setSystemTime(noon + 3_600_000)
  expect(clock.next()).toBe('2026-06-01T13:00:00.000000Z')
})
