import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { newState, rootPassword, runProgram, startService } from '../support/service.ts'

const filesBelow = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(entry => join(entry.parentPath, entry.name))

describe('the first start', () => {
  test('creates the state, prints the password once, and stores it nowhere', async () => {
    using state = newState()
    const first = await startService({ state: state.path })
    const password = /The password of root is (\S+)/.exec(first.printed)![1]!
    const token = await first.signIn(password)
    const { body } = await first.call('GET', '/api/v1/machines', { token })
    expect(body).toMatchObject([{ Name: 'demo', State: 'stopped' }])
    expect(await first.stop()).toBe(0)

    expect(statSync(state.path).mode & 0o777).toBe(0o700)
    for (const file of ['keys/signing.pem', 'tls/key.pem', 'store.db'])
      expect(statSync(join(state.path, file)).mode & 0o777, file).toBe(0o600)
    for (const file of filesBelow(state.path)) expect(readFileSync(file).includes(password), file).toBe(false)
    expect(first.log()).not.toContain(password)

    const second = await startService({ state: state.path })
    expect(second.printed).not.toContain('password of root')
    expect((await second.call('GET', '/api/v1/machines', { token })).status).toBe(200)
    expect(await second.signIn(password)).toBeTypeOf('string')
    expect(await second.stop()).toBe(0)
  })

  test('prints a link with which root sets a password in a browser, once', async () => {
    using state = newState()
    const service = await startService({ state: state.path })
    const secret = /#\/link\/(\S+)/.exec(service.printed)![1]!
    const use = (password: string) =>
      service.call('POST', '/api/v1/auth/links/use', {
        body: { secret, password },
        headers: { 'x-vmhost-console': '1' },
      })
    expect(await use('weak')).toMatchObject({ status: 400 })
    expect(await use(rootPassword)).toMatchObject({ status: 201, body: { username: 'root' } })
    expect(await use('Another-Horse-7-Battery')).toMatchObject({ status: 401 })
    expect(await service.signIn(rootPassword)).toBeTypeOf('string')
    await service.stop()
    for (const file of filesBelow(state.path)) expect(readFileSync(file).includes(secret), file).toBe(false)
    expect(service.log()).not.toContain(secret)
  })

  test('sets the password of root from the environment at every start, and prints it nowhere', async () => {
    using state = newState()
    const first = await startService({
      state: state.path,
      env: { VMHOST_ROOT_PASSWORD: rootPassword, VMHOST_DEMO: 'off' },
    })
    expect(first.printed).not.toContain(rootPassword)
    const token = await first.signIn()
    expect((await first.call('GET', '/api/v1/machines', { token })).body).toEqual([])
    await first.stop()
    const second = await startService({ state: state.path, env: { VMHOST_ROOT_PASSWORD: 'Another-Horse-7-Battery' } })
    await expect(second.signIn()).rejects.toThrow('401')
    await second.signIn('Another-Horse-7-Battery')
    await second.stop()
  })

  test('a second service on the same state is refused, and the first one continues', async () => {
    using state = newState()
    const first = await startService({ state: state.path, env: { VMHOST_ROOT_PASSWORD: rootPassword } })
    const second = await runProgram(['serve'], {}, state.path)
    expect(second).toMatchObject({ code: 1, stderr: expect.stringContaining('Another vmhost runs') })
    expect((await first.call('GET', '/api/health/probe')).body).toEqual({ status: 'OK' })
    await first.stop()
  })

  test('plain HTTP serves on loopback', async () => {
    using state = newState()
    const service = await startService({ state: state.path, env: { VMHOST_LISTEN: 'http://127.0.0.1:0' } })
    expect(service.url).toMatch(/^http:/)
    expect((await service.call('GET', '/api/health/probe')).status).toBe(200)
    await service.stop()
  })
})

describe('a start that fails', () => {
  test.for([
    ['an unknown variable', { VMHOST_LISTN: 'x' }, 'VMHOST_LISTN'],
    ['a bad address', { VMHOST_LISTEN: 'nonsense' }, 'VMHOST_LISTEN'],
    ['plain HTTP off loopback', { VMHOST_LISTEN: 'http://0.0.0.0:8080' }, 'loopback'],
    ['a weak password', { VMHOST_ROOT_PASSWORD: 'short' }, 'too weak'],
    ['a driver that is not one', { VMHOST_DRIVER: 'xen' }, 'VMHOST_DRIVER'],
    ['qemu without QEMU', { VMHOST_DRIVER: 'qemu', PATH: '/nowhere' }, 'not on PATH'],
    ['a pattern that matches nothing', { VMHOST_ROUTES_EXCLUDE: 'machine/*' }, 'routes_exclude has machine/*'],
    [
      'an allowed folder that is not there',
      { VMHOST_ALLOWED_FOLDERS: '/nowhere' },
      'allowed_folders names /nowhere, which cannot be used: there is nothing at that path. Create the folder',
    ],
    [
      'a configuration file that is not there',
      { VMHOST_CONFIG: '/nowhere/vmhost.toml' },
      '/nowhere/vmhost.toml cannot be read: there is nothing at that path',
    ],
    [
      'a key for packs that is not there',
      { VMHOST_PACK_SIGNING_KEY: '/nowhere.pem' },
      'pack_signing_key is /nowhere.pem, which cannot be used: there is nothing at that path',
    ],
    [
      'a key for packs that is none',
      { VMHOST_PACK_SIGNING_KEY: '/etc/hostname' },
      'pack_signing_key is /etc/hostname, which cannot be used: The key to sign packs with is not',
    ],
    ['packs that nobody may sign', { VMHOST_PACK_TRUST: 'require' }, 'pack_trusted_keys is empty'],
    [
      'a certificate that is not there',
      { VMHOST_TLS_CERTIFICATE: '/nowhere.pem', VMHOST_TLS_KEY: '/nowhere.key' },
      'tls_certificate, tls_key: /nowhere.pem and /nowhere.key cannot be used: of /nowhere.',
    ],
  ] as const)('with %s says why, without a trace', async ([, env, told]) => {
    using state = newState()
    const { code, stderr } = await runProgram(['serve'], env, state.path)
    expect(code).toBe(1)
    expect(stderr).toContain(told)
    expect(stderr.trim().split('\n')).toHaveLength(1)
    expect(stderr).not.toContain('ENOENT')
    if ('VMHOST_ROOT_PASSWORD' in env) expect(stderr).not.toContain(env.VMHOST_ROOT_PASSWORD)
  })
})

describe('the command line', () => {
  test('routes prints the served routes', async () => {
    const shown = await runProgram(['routes', '--json', '--routes-exclude', 'machines/*'])
    const ids = (JSON.parse(shown.stdout) as { id: string }[]).map(row => row.id)
    expect(ids).toContain('license/show')
    expect(ids.some(id => id.startsWith('machines/'))).toBe(false)
    const table = await runProgram(['routes', '--license-path', 'acme'])
    expect(table.stdout).toContain('/api/v1/acme/key')
    expect(table.stdout).toContain('UPDATE_VM_STATES')
  })

  test('keygen creates a key that only its owner can read, and overwrites no file', async () => {
    using state = newState()
    const file = join(state.path, 'new.pem')
    expect((await runProgram(['keygen', file, '--bits', '2048'])).code).toBe(0)
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(await runProgram(['keygen', file])).toMatchObject({ code: 1, stderr: expect.stringContaining('exists') })
    expect(await runProgram(['keygen', `${file}2`, '--bits', '12'])).toMatchObject({ code: 1 })
  })
})

describe('routes that are switched off', () => {
  test('are not found, and are not in the OpenAPI document', async () => {
    using state = newState()
    const service = await startService({
      state: state.path,
      env: { VMHOST_ROUTES_EXCLUDE: 'machines/clone,DELETE /v1/**', VMHOST_ROOT_PASSWORD: rootPassword },
    })
    const token = await service.signIn()
    expect(
      (await service.call('PUT', '/api/v1/machines/demo/clone', { token, body: { clone_name: 'x' } })).status,
    ).toBe(404)
    expect((await service.call('DELETE', '/api/v1/machines/demo', { token })).status).toBe(405)
    const { body } = await service.call('GET', '/api/openapi.json')
    expect(Object.keys(body.paths)).not.toContain('/api/v1/machines/{id}/clone')
    await service.stop()
  })
})
