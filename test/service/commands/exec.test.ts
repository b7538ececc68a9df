import { createServer } from 'node:http'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { newState, runProgram } from '../../support/service.ts'

const result = { stdout: 'out\n', stderr: 'wrong\n', exit_code: 7, stdout_truncated: false, stderr_truncated: false }

/** Runs `vmhost exec` against a service that replies the same to each command. Gives the request too. */
const runExec = async (args: readonly string[], reply: object) => {
  using state = newState()
  const requests: unknown[] = []
  const server = createServer(async (request, response) => {
    requests.push(JSON.parse(await text(request)))
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(reply))
  })
  await new Promise<void>(settle => server.listen(join(state.path, 'vmhost.sock'), settle))
  const ended = await runProgram(['exec', ...args], {}, state.path, 'from here')
  server.close()
  return { ...ended, request: requests[0] }
}

test('exec passes on the output, the errors and the exit code of a command in a guest', async () => {
  expect(await runExec(['web', 'ls -l | tail'], { ...result, timed_out: false })).toEqual({
    code: 7,
    stdout: 'out\n',
    stderr: 'wrong\n',
    request: { command: 'ls -l | tail', environment_variables: {} },
  })
})

test('exec gives a program its arguments, its environment and its input, and says that the time was over', async () => {
  const options = [
    '--user',
    'jane',
    '--env',
    'A=1',
    '--env',
    'B=x=y',
    '--timeout',
    '9',
    '--input',
    '-',
    '--workdir',
    '/tmp',
  ]
  const ended = await runExec([...options, 'web', '--', 'ls', '-l', '--user'], {
    ...result,
    exit_code: -1,
    timed_out: true,
  })
  expect(ended).toMatchObject({ code: 1, stderr: expect.stringContaining('vmhost: The time was over') })
  expect(ended.request).toEqual({
    command: 'ls',
    args: ['-l', '--user'],
    user: 'jane',
    working_directory: '/tmp',
    environment_variables: { A: '1', B: 'x=y' },
    timeout: 9,
    input: 'from here',
  })
})
