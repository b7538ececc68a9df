import { createStorage } from 'unstorage'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createAlarmTimers } from '#lib/compose/alarm-timers.ts'
import { createStore } from '#lib/storage/create-store.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'], now: Date.UTC(2026, 5, 1) }))
afterEach(() => void vi.useRealTimers())

const [minute, hour, day] = [60_000, 3_600_000, 86_400_000]

test('work runs when its time has passed since it last ran, whichever wake that was', async () => {
  const disk = createStorage()
  let ran: string[] = []
  /** Wakes the program at an hour, as an alarm does; gives what has run. */
  const wake = async (hours: number): Promise<readonly string[]> => {
    vi.setSystemTime(Date.UTC(2026, 5, 1) + hours * hour)
    const store = await createStore(disk)
    const { every, runDue } = createAlarmTimers(store)
    ran = []
    every(minute, () => void ran.push('minute'))
    every(hour, () => void ran.push('hour'))
    every(hour, () => void ran.push('other hour'))
    every(day, () => void ran.push('day'))
    await Promise.all([runDue(), runDue()])
    return ran
  }
  expect(await wake(0)).toEqual(['minute', 'hour', 'other hour', 'day'])
  expect(await wake(0.5)).toEqual(['minute'])
  expect(await wake(1)).toEqual(['minute', 'hour', 'other hour'])
  expect(await wake(1)).toEqual([])
  expect(await wake(23.5)).toEqual(['minute', 'hour', 'other hour'])
  expect(await wake(24)).toEqual(['minute', 'day'])
})
