import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import { VmhostError } from '#lib/client/client.ts'
import { createProgress } from '#lib/entry/admin/job-progress.ts'
import { describeFailure } from '#lib/entry/exit-code.ts'

const hostile = 'disk \u001b]0;title\u0007\u009b2J'
const escaped = 'disk \\u001b]0;title\\u0007\\u009b2J'

test.each([true, false])('the title of a step, on a terminal: %s', isTTY => {
  const output = Object.assign(new PassThrough(), { isTTY, columns: 100 })
  let written = ''
  output.on('data', (part: Buffer) => void (written += part.toString()))
  const step = { name: 'copy', display_name: hostile, weight: 1, has_percentage: false, current_percentage: 100 }
  createProgress(output as unknown as NodeJS.WriteStream).show([{ ...step, state: 'completed' }])
  expect(written).toContain(escaped)
  expect(written).not.toContain('\u009b')
})

test('what a service says, and a name in an error of this program', () => {
  const refusal = new VmhostError(400, { code: 400, message: `${hostile}\nOK` })
  expect(describeFailure(refusal)).toBe(`${escaped}\\u000aOK`)
  const defect = describeFailure(new Error(hostile))
  expect(defect).toContain(escaped)
  // The lines of its stack stay.
  expect(defect.split('\n').length).toBeGreaterThan(2)
})
