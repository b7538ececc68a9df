import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { makeGuestFolder, startGuest } from '../../support/guests/running-guest.ts'
import { test } from '../../support/harness.ts'
import { until } from '../../support/waiting.ts'

const web = '/api/v1/machines/web'

const isAlive = (pid: number): boolean =>
  existsSync(`/proc/${pid}`) && !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))

test('a command gives its outputs and its exit code', async ({ call, driver }) => {
  await startGuest(call, driver)
  const { status, body } = await call('PUT', `${web}/execute`, { body: { command: 'echo out; echo err >&2; exit 3' } })
  expect(status).toBe(200)
  expect(body).toEqual({
    stdout: 'out\n',
    stderr: 'err\n',
    exit_code: 3,
    stdout_truncated: false,
    stderr_truncated: false,
    timed_out: false,
    error: 'The command ended with the exit code 3.',
  })
})

test('a program gets its arguments, input, folder and environment as they are', async ({ call, driver }) => {
  await startGuest(call, driver)
  const script = 'printf "%s|" "$@" "$PWD" "$GREETING" "$HOME"; cat'
  const { body } = await call('PUT', `${web}/execute`, {
    body: {
      command: 'sh',
      args: ['-c', script, 'sh', '$(touch /tmp/no)', "it's -- ;"],
      working_directory: '/usr',
      environment_variables: { GREETING: 'a=b "c"' },
      input: 'from ÿ stdin',
    },
  })
  expect(body).toMatchObject({ stdout: `$(touch /tmp/no)|it's -- ;|/usr|a=b "c"|/root|from ÿ stdin`, exit_code: 0 })
  expect(body).not.toHaveProperty('error')
})

test('what a command runs with is not in the audit, and its environment is in no list of arguments', async ({
  call,
  driver,
  observed,
}) => {
  const fake = await startGuest(call, driver)
  const body = { command: 'true', environment_variables: { TOKEN: 'hush-1' }, input: 'hush-2' }
  await call('PUT', `${web}/execute`, { body })
  expect(fake.argumentsOf('guest-exec')['env']).toContain('TOKEN=hush-1')
  expect(JSON.stringify(fake.argumentsOf('guest-exec')['arg'])).not.toContain('hush')
  expect(JSON.stringify(observed)).not.toContain('hush')
})

test('output beyond the limit is cut, and the reply says so', async ({ call, driver }) => {
  await startGuest(call, driver)
  const command = 'head -c 300000 /dev/zero | tr "\\0" x; printf 12345 >&2'
  const { body } = await call('PUT', `${web}/execute`, { body: { command, max_output: 5 } })
  expect(body).toMatchObject({ stdout: 'xxxxx', stdout_truncated: true, stderr: '12345', stderr_truncated: false })
})

test('after its time a command is killed with all that it has started', async ({ call, driver }) => {
  await startGuest(call, driver)
  const folder = makeGuestFolder()
  const command = `(sleep 987 & echo $! > ${folder}/orphan) ; sh -c 'echo $$ > ${folder}/child; sleep 988; true'; true`
  const { status, body } = await call('PUT', `${web}/execute`, {
    body: { command: `echo begun; ${command}`, timeout: 1 },
  })
  expect(status).toBe(200)
  expect(body).toMatchObject({
    stdout: 'begun\n',
    exit_code: -1,
    signal: 9,
    timed_out: true,
    error: 'The command did not end within 1 seconds and was killed.',
  })
  for (const name of ['orphan', 'child']) {
    const pid = Number(readFileSync(join(folder, name), 'utf8'))
    await until(async () => expect(isAlive(pid)).toBe(false))
  }
})

test('when the caller goes away, the command is killed', async ({ call, driver }) => {
  await startGuest(call, driver)
  const folder = makeGuestFolder()
  const gone = new AbortController()
  const command = `echo $$ > ${folder}/pid; sleep 986; true`
  const waiting = call('PUT', `${web}/execute`, { body: { command }, signal: gone.signal }).catch(() => {})
  const pid = await until(async () => {
    expect(existsSync(`${folder}/pid`)).toBe(true)
    return Number(readFileSync(`${folder}/pid`, 'utf8'))
  })
  gone.abort()
  await waiting
  await until(async () => expect(isAlive(pid)).toBe(false))
})

test('as a job it gives the same result, and its cancellation kills the command', async ({ call, driver }) => {
  await startGuest(call, driver)
  const headers = { prefer: 'respond-async' }
  const started = await call('PUT', `${web}/execute`, { body: { command: 'echo done' }, headers })
  expect(started.status).toBe(202)
  const job = `/api/v1/jobs/${started.body.id}`
  await until(async () =>
    expect((await call('GET', job)).body).toMatchObject({
      state: 'completed',
      result: { stdout: 'done\n', exit_code: 0 },
    }),
  )
  const folder = makeGuestFolder()
  const long = await call('PUT', `${web}/execute`, {
    body: { command: `echo $$ > ${folder}/pid; sleep 985; true` },
    headers,
  })
  const pid = await until(async () => {
    const found = Number(readFileSync(`${folder}/pid`, 'utf8'))
    expect(found).toBeGreaterThan(1)
    return found
  })
  await call('POST', `/api/v1/jobs/${long.body.id}/cancel`)
  await until(async () => expect(isAlive(pid)).toBe(false))
  await until(async () =>
    expect((await call('GET', `/api/v1/jobs/${long.body.id}`)).body).toMatchObject({ state: 'failed' }),
  )
})

test.for([
  [{ command: 'true', shell: 'bash' }, 'shell'],
  [{ command: '' }, 'command'],
  [{ command: 'a\0b' }, 'NUL'],
  [{ command: 'true', use_ssh: true }, 'use_ssh'],
  [{ command: 'true', use_sudo: true, user: 'web' }, 'use_sudo'],
  [{ command: 'true', user: '-c' }, 'user'],
  [{ command: 'true', working_directory: 'tmp' }, 'absolute'],
  [{ command: 'true', environment_variables: { 'A=B': 'c' } }, 'environment_variables'],
  [{ command: 'true', timeout: 0 }, 'timeout'],
  [{ command: 'true', max_output: 10 ** 9 }, 'max_output'],
] as const)('%j is refused by name', async ([body, named], { call, driver }) => {
  const fake = await startGuest(call, driver)
  const reply = await call('PUT', `${web}/execute`, { body })
  expect(reply.status).toBe(400)
  expect(JSON.stringify(reply.body)).toContain(named)
  expect(fake.commands).not.toContain('guest-exec')
})

test('it needs a running machine with an agent, and says what is missing', async ({ call, driver }) => {
  const fake = await startGuest(call, driver)
  const execute = () => call('PUT', `${web}/execute`, { body: { command: 'true' } })
  fake.disabled.add('guest-exec')
  expect(await execute()).toMatchObject({ status: 400, body: { message: expect.stringContaining('guest-exec') } })
  driver.agent = undefined
  expect(await execute()).toMatchObject({ status: 409, body: { message: expect.stringContaining('qemu-guest-agent') } })
  await call('PUT', `${web}/pause`)
  expect(await execute()).toMatchObject({ status: 409, body: { message: expect.stringContaining('web is paused') } })
  const { openAgent } = driver
  Reflect.deleteProperty(driver, 'openAgent')
  expect(await execute()).toMatchObject({ status: 400, body: { message: expect.stringContaining('unsupported') } })
  Object.assign(driver, { openAgent })
})

test('it needs EXECUTE_COMMAND_VM, or LIST_VM for who made the machine', async ({ call, driver }) => {
  await startGuest(call, driver)
  const execute = (...claims: string[]) => call('PUT', `${web}/execute`, { as: claims, body: { command: 'true' } })
  expect((await execute('EXECUTE_COMMAND_VM')).status).toBe(200)
  expect((await execute('UPDATE_VM')).status).toBe(403)
  expect((await execute('other', 'LIST_VM')).status).toBe(403)
  const [view] = await driver.list()
  driver.simulateView({ ...view!, definition: { ...view!.definition, owner: '00000000-0000-4000-8000-0000000000aa' } })
  expect((await execute('LIST_VM')).status).toBe(200)
  expect((await execute('LIST_VM', 'other')).status).toBe(403)
})

test('an agent that hangs is no answer, and one that garbles is a failure of its own', async ({ call, driver }) => {
  const fake = await startGuest(call, driver)
  fake.faults.reply = command => (command === 'guest-exec' ? 'nonsense\n' : undefined)
  expect((await call('PUT', `${web}/execute`, { body: { command: 'true' } })).status).toBe(502)
  fake.faults.reply = command => (command === 'guest-sync-delimited' ? 'hang' : undefined)
  expect((await call('PUT', `${web}/execute`, { body: { command: 'true' } })).status).toBe(504)
})

test('a guest with Windows runs lines by its own shell', async ({ call, driver }) => {
  const fake = await startGuest(call, driver)
  const [view] = await driver.list()
  const windows = { ...view!, guest: { agentVersion: '7.2.0', systemId: 'mswindows' } }
  driver.simulateView(windows)
  fake.faults.reply = command => (command === 'guest-exec' ? '{"return": {"pid": 4}}\n' : undefined)
  await call('PUT', `${web}/execute`, { body: { command: 'dir C:\\' } })
  expect(fake.argumentsOf('guest-exec')).toMatchObject({ path: 'cmd.exe', arg: ['/c', 'dir C:\\'] })
  expect((await call('PUT', `${web}/execute`, { body: { command: 'dir', user: 'web' } })).body.message).toContain(
    'user',
  )
})
