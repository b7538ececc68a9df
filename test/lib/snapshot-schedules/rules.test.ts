import { describe, expect, test } from 'vitest'
import { chooseSuperfluous } from '#lib/snapshot-schedules/choose-superfluous.ts'
import { findNextRun } from '#lib/snapshot-schedules/next-run.ts'

const megabyte = 2 ** 20
const at = (time: string): number => Date.parse(`2026-11-${time}Z`)

describe('the next run of a schedule', () => {
  test.for([
    [{ every: 60 }, '23T14:00:00', '23T14:01:00'],
    [{ at: ['03:00'] }, '23T02:59:59', '23T03:00:00'],
    [{ at: ['03:00'] }, '23T03:00:00', '24T03:00:00'],
    [{ at: ['15:30', '03:00'] }, '23T04:00:00', '23T15:30:00'],
    [{ at: ['15:30', '03:00'] }, '23T15:30:01', '24T03:00:00'],
  ] as const)('%j after %s is %s', ([rules, after, next]) => {
    const { every, at: times } = { every: undefined, at: undefined, ...rules }
    expect(findNextRun({ every, at: times && [...times] }, at(after))).toBe(at(next))
  })
})

describe('the snapshots that a schedule keeps', () => {
  /** Snapshots that are named after their times, of a megabyte each. */
  const snapshots = (times: readonly string[]) =>
    times.map(time => ({ id: time, created_at: new Date(at(time)).toISOString(), size: megabyte }))
  const kept = (times: readonly string[], rules: Parameters<typeof chooseSuperfluous>[1]): readonly string[] => {
    const gone = chooseSuperfluous(snapshots(times), rules)
    return times.filter(time => !gone.includes(time))
  }
  const quarters = ['23T10:00:00', '23T10:30:00', '23T11:00:00', '23T11:30:00', '23T12:00:00', '23T12:30:00']

  test.for([
    ['the newest', { last: 2 }, quarters, quarters.slice(4)],
    ['all, if there are fewer', { last: 9 }, quarters, quarters],
    ['the newest of each hour', { hourly: 2 }, quarters, ['23T11:30:00', '23T12:30:00']],
    [
      'the newest of each hour that an earlier rule does not keep',
      { last: 1, hourly: 2 },
      quarters,
      ['23T10:30:00', '23T11:30:00', '23T12:30:00'],
    ],
    [
      'days and weeks: Sunday the 22nd ends a week',
      { daily: 2, weekly: 2 },
      ['08T03:00:00', '15T03:00:00', '20T03:00:00', '21T03:00:00', '22T03:00:00', '23T03:00:00'],
      ['08T03:00:00', '15T03:00:00', '22T03:00:00', '23T03:00:00'],
    ],
  ] as const)('%s', ([, keep, times, expected]) => {
    expect(kept(times, { keep })).toEqual(expected)
    // Their order does not matter.
    expect(chooseSuperfluous(snapshots(times.toReversed()), { keep })).toHaveLength(times.length - expected.length)
  })

  test('the oldest go when they take too much, and the newest stays in any case', () => {
    expect(kept(quarters, { keep: { last: 6 }, max_size: 2 })).toEqual(quarters.slice(4))
    expect(kept(quarters, { keep: { last: 6 }, max_size: 0.5 })).toEqual(quarters.slice(5))
    const sizes = [1, 9, 1, 1].map((size, index) => ({ ...snapshots(quarters)[index]!, size: size * megabyte }))
    expect(chooseSuperfluous(sizes, { keep: { last: 4 }, max_size: 4 })).toEqual(quarters.slice(0, 2).toReversed())
  })
})
