import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { settings } from '#lib/compose/settings.ts'
import { newState, rootPassword, runProgram, startService } from '../support/service.ts'

const password = 'Another-Horse-7-Battery'

/** The time with which every entry of the audit is newer. */
const longAgo = '2001-01-01T00:00:00Z'

describe('users, roles and claims on the command line', () => {
  test('work in the same way with and without a running service', async () => {
    using state = newState()
    const env = { VMHOST_ROOT_PASSWORD: rootPassword }
    const vmhost = (args: string, stdin = '') => runProgram(args.split(' '), env, state.path, stdin)

    expect((await vmhost('users list')).stderr).toContain('There is no vmhost state')
    await (await startService({ state: state.path, env })).stop()
    expect(await vmhost('users add jane --email jane@example.test', `${password}\n`)).toMatchObject({
      code: 0,
      stdout: 'Added jane with USER.\n',
    })
    expect(await vmhost('users add jane --email other@example.test', password)).toMatchObject({
      code: 3,
      stderr: 'vmhost: A user with this user name or e-mail address exists already.\n',
    })
    expect((await vmhost('users add joe --email joe@example.test', 'weak')).stderr).toContain('12 characters')

    const service = await startService({ state: state.path, env })
    const signIn = async (secret: string): Promise<number> =>
      (await service.call('POST', '/api/v1/auth/token', { body: { username: 'jane', password: secret } })).status
    const body = { username: 'jane', password }
    const { token } = (await service.call('POST', '/api/v1/auth/token', { body })).body
    const may = async (): Promise<number> => (await service.call('GET', '/api/v1/auth/users', { token })).status
    expect(await may()).toBe(403)
    expect((await vmhost('users grant jane --claim LIST_USER --role ADMIN')).stdout).toBe(
      'jane has ADMIN.\njane has LIST_USER.\n',
    )
    expect(await may()).toBe(200)
    expect((await vmhost('users revoke jane --claim LIST_USER --role ADMIN')).code).toBe(0)
    expect(await may()).toBe(403)

    for (let at = 0; at < 5; at += 1) await signIn('wrong')
    expect(await signIn(password)).toBe(429)
    expect((await vmhost('users list')).stdout).toMatch(/jane@example\.test +jane +USER +locked until/)
    expect((await vmhost('users unlock jane')).code).toBe(0)
    expect(await signIn(password)).toBe(200)
    const made = await vmhost('users set-password jane --generate')
    expect(await signIn(/The new password of jane: (\S+)/.exec(made.stdout)![1]!)).toBe(200)

    expect((await vmhost('roles add build --claim LIST_VM')).stdout).toBe('Added BUILD with LIST_VM.\n')
    expect((await vmhost('roles list')).stdout).toMatch(/^BUILD +1 claim$/m)
    expect((await vmhost('roles grant build UPDATE_VM_STATES')).code).toBe(0)
    expect(JSON.parse((await vmhost('roles list --json')).stdout)).toContainEqual(
      expect.objectContaining({ name: 'BUILD', claims: expect.objectContaining({ length: 2 }) }),
    )
    expect((await vmhost('roles remove build')).code).toBe(0)
    expect((await vmhost('claims add payroll')).stdout).toBe('Added PAYROLL.\n')
    expect((await vmhost('claims remove payroll')).code).toBe(0)
    expect(await vmhost('users remove root')).toMatchObject({ code: 3, stderr: 'vmhost: root cannot be removed.\n' })

    const audit = JSON.parse((await vmhost(`audit list --json --since ${longAgo} --limit 1000`)).stdout)
    expect(audit).toContainEqual(expect.objectContaining({ operation: 'claims/create', outcome: 'done' }))
    expect(JSON.parse((await vmhost('audit list --json --since 2999-01-01T00:00:00Z')).stdout)).toEqual([])
    expect((await vmhost('audit list --since yesterday')).stderr).toContain('--since')

    const before = (await service.call('GET', '/.well-known/jwks.json')).body.keys
    expect((await vmhost('keys rotate')).code).toBe(0)
    expect((await service.call('GET', '/.well-known/jwks.json')).body.keys).toEqual(expect.arrayContaining(before))
    expect((await service.call('GET', '/api/v1/health/system', { token: await service.signIn() })).status).toBe(200)
    expect((await vmhost('users remove jane')).code).toBe(0)
    expect(await may()).toBe(401)
    await service.stop()

    const again = await startService({ state: state.path, env })
    expect((await vmhost('users list')).stdout).not.toContain('jane')
    expect(again.log() + service.log() + readFileSync(`${state.path}/store.db`).toString('latin1')).not.toContain(
      password,
    )
    await again.stop()
  })

  test.for([
    ['users list --what x', 'users list', "error: unknown option '--what'"],
    ['serve --stop-timeot 5', 'serve', "error: unknown option '--stop-timeot'"],
    ['users grant', 'users grant', "error: missing required argument 'user'"],
    ['users grant jane', 'users grant', 'error: name what to change with --role or --claim'],
    ['users add jane', 'users add', "error: required option '--email <address>' not specified"],
    ['catalog push demo --versoin 1 --version 1', 'catalog push', "error: unknown option '--versoin'"],
  ] as const)('%s: what is wrong in one line, then where the help is', async ([args, command, told]) => {
    using state = newState()
    const { code, stderr } = await runProgram(args.split(' '), {}, state.path)
    expect(code).toBe(2)
    const [line, ...rest] = stderr.split('\n')
    expect(line).toContain(told)
    expect(stderr).toContain(`\`vmhost ${command} --help\` shows its commands and options.`)
    expect(rest.length).toBeLessThan(5)
  })

  test('the exit code is 0 for done and 2 for wrong usage, as the help says', async () => {
    using state = newState()
    const help = await runProgram(['--help'])
    expect(help).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/Exit codes:\n +0 +done\n +1 .*\n +2 +wrong usage.*\n +3 .*\n +4 .*\n +5 /),
    })
    expect((await runProgram(['users', 'list'], {}, state.path)).code).toBe(5)
    expect((await runProgram(['user', 'list'], {}, state.path)).code).toBe(2)
    expect((await runProgram([], {}, state.path)).code).toBe(2)
  })

  test('a secret is refused as a flag, with a hint how to set it, and is not printed', async () => {
    using state = newState()
    for (const [expected, ...args] of [
      [1, 'serve', '--root-password', 'Secret-Horse-7'],
      [2, 'users', 'list', '--storage-password=Secret-Horse-7'],
    ] as const) {
      const { code, stderr } = await runProgram(args, {}, state.path)
      expect(code).toBe(expected)
      expect(stderr).toMatch(/^vmhost: --\w+-password is not a flag, .* set VMHOST_\w+_PASSWORD, or .*\n$/)
      expect(stderr).not.toContain('Secret')
    }
  })

  test('the help of serve has every setting with its default', async () => {
    const { stdout } = await runProgram(['serve', '--help'])
    const help = stdout.replace(/\s+/g, ' ')
    for (const [key, { default: usual }] of Object.entries(settings)) {
      expect(help).toMatch(new RegExp(`(--${key.replaceAll('_', '-')} <value>|VMHOST_${key.toUpperCase()}) `))
      if (typeof usual === 'number') expect(help).toContain(`(default: ${usual})`)
    }
  })
})
