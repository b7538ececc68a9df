import { describe, expect, test } from 'vitest'
import { findSnapshotAt } from '#lib/machines/snapshots/find.ts'
import { parseMoment } from '#lib/machines/snapshots/moment.ts'

const now = Date.parse('2026-11-23T14:10:00Z')
const toText = (moment: number | undefined): string | undefined =>
  moment === undefined ? undefined : new Date(moment).toISOString()

describe('moments that name snapshots', () => {
  test.for([
    ['@2026-11-20T14:03:20Z', '2026-11-20T14:03:20.000Z'],
    ['@2026-11-20T14:03:20+02:00', '2026-11-20T12:03:20.000Z'],
    ['@14:03:20', '2026-11-23T14:03:20.000Z'],
    ['@14:03', '2026-11-23T14:03:00.000Z'],
    ['@15:00:00', '2026-11-22T15:00:00.000Z'],
    ['@9:05', '2026-11-23T09:05:00.000Z'],
  ] as const)('%s is %s', ([reference, expected]) => {
    expect(toText(parseMoment(reference, now))).toBe(expected)
  })

  test('what does not begin with @ is a name', () => expect(parseMoment('14:03:20', now)).toBeUndefined())

  test.for(['@', '@now', '@25:00', '@2026-11-20', '@2026-11-20T14:03:20', '@2026-13-01T00:00:00Z'])(
    '%s is refused',
    reference => expect(() => parseMoment(reference, now)).toThrow('names no moment'),
  )

  test('the newest snapshot that was made until then is found', () => {
    const make = (name: string, created_at: string) => ({
      ...{ id: crypto.randomUUID(), name, created_at, description: '', state: 'running', layers: {}, size: 0 },
    })
    const times = ['2026-11-20T14:00:00.500Z', '2026-11-20T14:01:00.500Z']
    const snapshots = times.map((time, index) => make(`s${index}`, time))
    const view = { name: 'box', snapshots: { snapshots } } as unknown as Parameters<typeof findSnapshotAt>[0]
    expect(findSnapshotAt(view, '@2026-11-20T14:01:00Z').name).toBe('s0')
    expect(findSnapshotAt(view, '@2026-11-20T14:01:01Z').name).toBe('s1')
    expect(findSnapshotAt(view, 'S1').name).toBe('s1')
    expect(() => findSnapshotAt(view, '@2026-11-20T14:00:00Z')).toThrow(
      'box has no snapshot that was made until 2026-11-20T14:00:00.000Z; the oldest is of 2026-11-20T14:00:00.500Z.',
    )
  })
})
