import { expect, test } from 'vitest'
import { newState, rootPassword, runProgram, startService } from '../../support/service.ts'

const env = { VMHOST_ROOT_PASSWORD: rootPassword, VMHOST_DEMO: 'off' }

test('the other rights of a command are granted even if the user has one already or one does not exist', async () => {
  using state = newState()
  const vmhost = (line: string) => runProgram(line.split(' '), env, state.path, 'Another-Horse-7-Battery\n')
  await (await startService({ state: state.path, env })).stop()
  expect(await vmhost('users add jane --email jane@example.test')).toMatchObject({ code: 0 })
  expect((await vmhost('users grant jane --claim LIST_ROLE')).code).toBe(0)
  const granted = await vmhost('users grant jane --claim LIST_ROLE --claim LIST_VMS --claim LIST_CLAIM')
  expect(granted).toMatchObject({ code: 3, stdout: 'jane has LIST_CLAIM.\n' })
  expect(granted.stderr).toContain('jane has LIST_ROLE already.')
  expect(granted.stderr).toContain('There is no claim LIST_VMS.')
  const revoked = await vmhost('users revoke jane --claim LIST_USER --claim LIST_CLAIM')
  expect(revoked).toMatchObject({ code: 4, stdout: 'jane does not have LIST_CLAIM any more.\n' })
})
