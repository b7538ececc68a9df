import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { AuditFacts } from '#lib/audit/entry.ts'
import { type CountedRefusals, createGatewayRefusals } from '#lib/compose/gateway/refusals.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const toFacts = (address: string): AuditFacts => ({
  at: new Date().toISOString(),
  request_id: crypto.randomUUID(),
  address,
  operation: 'users/list',
  method: 'GET',
  outcome: 'refused',
  status: 401,
})

test('a flood of refusals is reported by one call in ten seconds, and of bounded size', async () => {
  const reports: (readonly CountedRefusals[])[] = []
  const { add, report } = createGatewayRefusals(async refusals => void reports.push(refusals))
  for (let at = 0; at < 2_000; at += 1) {
    add(toFacts(`192.0.${at % 200}.1`))
    void report()
  }
  expect(reports).toEqual([])
  await vi.advanceTimersByTimeAsync(10_000)
  expect(reports).toHaveLength(1)
  expect(reports[0]!.length).toBeLessThanOrEqual(51)
  expect(reports[0]!.reduce((sum, { count }) => sum + count, 0)).toBe(2_000)
  await report()
  expect(reports).toHaveLength(1)
  add(toFacts('192.0.2.1'))
  const reported = report()
  await vi.advanceTimersByTimeAsync(10_000)
  await reported
  expect(reports[1]).toMatchObject([{ count: 1, facts: { address: '192.0.2.1' } }])
})
