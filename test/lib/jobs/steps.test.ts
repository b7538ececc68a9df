import { expect, test } from 'vitest'
import { createSteps } from '#lib/jobs/steps.ts'

test('a step that begins again starts at 0', () => {
  const { report, list, progress } = createSteps(() => {})
  report.plan([{ name: 'fetch', title: 'Fetch', weight: 1, unit: 'bytes' }])
  report.begin('fetch')
  report.advance('fetch', 50, 100)
  expect(progress()).toBe(50)
  report.begin('fetch')
  expect(list()).toEqual([
    {
      name: 'fetch',
      display_name: 'Fetch',
      weight: 1,
      has_percentage: true,
      unit: 'bytes',
      state: 'running',
      current_percentage: 0,
    },
  ])
})
