import { expect, test } from 'vitest'
import { signInElsewhere } from '../support/commands/sign-in-elsewhere.ts'
import { newState, rootPassword, runProgram, startService } from '../support/service.ts'
import { until } from '../support/waiting.ts'
import { openConsoleSocket } from '../support/guests/console-client.ts'

const env = { VMHOST_ROOT_PASSWORD: rootPassword, VMHOST_LISTEN: 'http://127.0.0.1:0' }
const leave = '\x1d'

test('vmhost console shows and types, and leaves on its key', async () => {
  using state = newState()
  const service = await startService({ state: state.path, env })
  const token = await service.signIn()
  await service.call('PUT', '/api/v1/machines/demo/start', { token })
  const booted = await service.call('GET', '/api/v1/machines/demo/wait?for=serial:BOOT%200*1', { token })
  expect(booted.body).toMatchObject({ result: 'met' })

  const piped = await runProgram(['console', 'demo'], {}, state.path, `xyz${leave}not sent`)
  expect(piped).toMatchObject({ code: 0, stdout: expect.stringContaining('MB BOOT 00000001') })
  const typed = await service.call('GET', '/api/v1/machines/demo/wait?for=serial:x', { token })
  expect(typed.body).toMatchObject({ result: 'met' })

  const claims = ['LIST_VM', 'EXECUTE_COMMAND_VM']
  const { body: key } = await service.call('POST', '/api/v1/auth/api_keys', {
    token,
    body: { name: 'console', claims },
  })
  using elsewhere = await signInElsewhere(service.url, { apiKey: key.encoded })
  const remote = await runProgram(['console', 'demo'], elsewhere.env, elsewhere.path, leave)
  expect(remote).toMatchObject({ code: 0, stdout: expect.stringContaining('MB BOOT 00000001') })
  await service.stop()
})

test('a sign-out ends consoles and waits; taking over is in the audit; an unknown machine is refused', async () => {
  using state = newState()
  const service = await startService({ state: state.path, env })
  const [token, other] = [await service.signIn(), await service.signIn()]
  const url = `${service.url.replace('http', 'ws')}/api/v1/machines/demo/console`
  const first = await openConsoleSocket(`${url}?writer=claim`, { headers: { authorization: `Bearer ${other}` } })
  const second = await openConsoleSocket(`${url}?writer=take-over&access_token=${token}`, {})
  await until(() => expect(first.messages).toContainEqual({ writer: false, taken_over_by: 'root' }))
  const { body } = await service.call('GET', '/api/v1/audit?operation=machines/console', { token })
  expect(body.entries.map(({ details }: { details: unknown }) => details)).toEqual(
    expect.arrayContaining([{ writer: 'take-over' }, { writer: 'claim' }]),
  )
  const waiting = service.call('GET', '/api/v1/machines/demo/wait?for=running', { token: other })
  expect((await service.call('DELETE', '/api/v1/auth/token', { token: other })).status).toBeLessThan(300)
  expect(await first.closed).toMatchObject({ code: 1008 })
  expect((await waiting).status).toBe(401)
  expect(second.socket.readyState).toBe(second.socket.OPEN)
  second.socket.terminate()
  expect(await runProgram(['console', 'nothing'], {}, state.path, leave)).toMatchObject({
    code: 4,
    stderr: expect.stringContaining('no machine'),
  })
  await service.stop()
})
