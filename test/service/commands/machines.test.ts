import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { newState, rootPassword, runProgram, startService } from '../../support/service.ts'

const env = { VMHOST_ROOT_PASSWORD: rootPassword }

describe('machines on the command line', () => {
  test('are listed, shown, started, changed and stopped, as tables and as JSON', async () => {
    using state = newState()
    const vmhost = (args: string) => runProgram(args.split(' '), {}, state.path)
    expect(await vmhost('machines list')).toMatchObject({ code: 5, stderr: expect.stringContaining('vmhost serve') })
    const service = await startService({ state: state.path, env })
    expect(await vmhost('machines list')).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^NAME +STATE +CPUS +MEMORY +UPTIME\ndemo +stopped +1 +16Mb +0\n$/),
    })
    expect(await vmhost('machine start demo')).toMatchObject({ code: 0, stdout: 'demo runs.\n' })
    expect(JSON.parse((await vmhost('machines ls --json --fields Name,State')).stdout)).toEqual([
      { Name: 'demo', State: 'running' },
    ])
    expect((await vmhost('machines show demo')).stdout).toMatch(/^name +demo\nid +\S{36}\n(.+\n)*state +running\n/)
    expect((await vmhost('machines set demo --description counter --dry-run')).stdout).toMatch(
      /^description +set +Success .*counter +now$/m,
    )
    expect((await vmhost('machines set demo --change labels.add=1')).code).toBe(3)
    expect(
      await runProgram(['machines', 'set', 'demo', '--change', 'restart.set never'], {}, state.path),
    ).toMatchObject({ code: 0 })
    expect(await vmhost('machines stop demo --force')).toMatchObject({ code: 0, stdout: 'demo has stopped.\n' })
    expect((await vmhost('machines clone demo copy')).stdout).toBe('Cloned demo to copy.\n')
    expect((await vmhost('machines delete copy')).stdout).toBe('Deleted copy.\n')
    expect((await vmhost('events list --types pdfm')).stdout).toMatch(/VM_STATE_CHANGED +previous_state=stopped/)
    expect(JSON.parse((await vmhost('api GET /machines/demo/status')).stdout)).toMatchObject({ status: 'stopped' })
    expect(await service.stop()).toBe(0)
  })

  test('the exit code tells wrong usage, a refusal and a missing machine apart', async () => {
    using state = newState()
    const service = await startService({ state: state.path, env })
    for (const [args, code, told] of [
      ['machines stop', 2, "missing required argument 'machine'"],
      ['machines create web', 2, "required option '--memory <MB>' not specified"],
      ['machines create web --memory much', 2, '--memory must be a number'],
      ['machines create web --memory 1', 3, 'out of bounds'],
      ['machines show ..', 2, 'The names . and .. are not possible'],
      ['machines pause demo', 3, 'demo'],
      ['machines wait demo running --timeout 1', 1, 'result is timeout'],
      ['exec demo ls -l', 3, 'its guest agent answers while it runs'],
      ['cp demo:/etc/hosts .', 3, 'its guest agent answers while it runs'],
      ['cp one two', 2, 'MACHINE:PATH'],
      ['machines screenshot demo', 3, 'demo is stopped, so its screen shows nothing; start it first'],
      ['machines snapshots show demo nothing', 4, 'nothing'],
      ['users show nobody', 4, 'nobody'],
      ['machines stop nothing', 4, 'no machine with the id or name nothing'],
      ['machines list --context nothing', 4, 'There is no context nothing'],
      ['machines list --host https://127.0.0.1:1', 3, 'vmhost login https://127.0.0.1:1'],
      ['login https://127.0.0.1:1 --user root', 5, 'cannot be reached'],
    ] as const)
      expect(await runProgram(args.split(' '), {}, state.path), args).toMatchObject({
        code,
        stderr: expect.stringContaining(told),
      })
    expect(await service.stop()).toBe(0)
  })
})

test('somebody signs in to another service, whose certificate is trusted from then on, and signs out', async () => {
  using state = newState()
  using elsewhere = newState()
  const service = await startService({ state: state.path, env })
  const vmhost = (args: string, stdin = '') =>
    // An empty variable counts as unset: this host has a service of its own otherwise.
    runProgram(args.split(' '), { VMHOST_STATE: '', HOME: elsewhere.path }, elsewhere.path, stdin)
  const unknown = await vmhost(`login ${service.url} --user root`, `${rootPassword}\n`)
  expect(unknown).toMatchObject({ code: 2, stderr: expect.stringContaining('--fingerprint') })
  const [, fingerprint = ''] = /--fingerprint (\S+)/.exec(unknown.stderr) ?? []
  const wrong = fingerprint.replace(/^../, pair => (pair === '00' ? '11' : '00'))
  expect(await vmhost(`login ${service.url} --user root --fingerprint ${wrong}`, rootPassword)).toMatchObject({
    code: 3,
    stderr: expect.stringContaining('nothing was sent'),
  })
  const signIn = `login ${service.url} --user root --name far --fingerprint ${fingerprint}`
  expect(await vmhost(signIn, 'Wrong-Horse-9-Battery')).toMatchObject({ code: 3 })
  expect(await vmhost(signIn, `${rootPassword}\n`)).toMatchObject({ code: 0 })
  const file = join(elsewhere.path, '.config/vmhost/contexts.json')
  expect(statSync(file).mode & 0o777).toBe(0o600)
  expect(readFileSync(file, 'utf8')).not.toContain(rootPassword)

  expect((await vmhost('machines list')).stdout).toMatch(/^demo +stopped/m)
  expect((await vmhost(`users list --host ${service.url}`)).stdout).toMatch(/^root /m)
  const contexts = await vmhost('context list')
  expect(contexts.stdout).toMatch(new RegExp(`^\\* +far +${service.url} +root `, 'm'))
  const { contexts: kept } = JSON.parse(readFileSync(file, 'utf8'))
  expect(contexts.stdout + contexts.stderr).not.toContain(kept.far.token)
  expect((await vmhost('machines list --context local')).code).toBe(5)
  expect((await vmhost('context use local')).code).toBe(0)
  expect((await vmhost('machines list')).code).toBe(5)
  expect((await vmhost('context use far')).code).toBe(0)

  expect(await vmhost('logout')).toMatchObject({ code: 0 })
  expect(existsSync(file) && readFileSync(file, 'utf8')).not.toContain(kept.far.token)
  const { status } = await service.call('GET', '/api/v1/machines', { token: kept.far.token })
  expect(status).toBe(401)
  await service.stop()
})
