import { expect, test } from 'vitest'
import { runProgram } from '../../support/service.ts'

test('the start fails with the reason when the state folder cannot be created', async () => {
  const { code, stderr } = await runProgram(['serve'], {}, '/proc/vmhost-state/deep')
  expect(code).toBe(1)
  expect(stderr).toContain('/proc')
})
