import { spawn } from 'node:child_process'
import { copyFileSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, test } from 'vitest'
import { newFolder } from '../support/folder.ts'
import { timed } from '../support/guests/noisy.ts'
import { rounds } from '../support/rounds.ts'
import { newState, rootPassword, runProgram, type Service, startService } from '../support/service.ts'
import { passing, pause } from '../support/waiting.ts'

const password = 'a password for the store'
const plain = { VMHOST_ROOT_PASSWORD: rootPassword, VMHOST_DEMO: 'off' }
const sealed = { ...plain, VMHOST_STORAGE_PASSWORD: password }
const [rotations, kills] = [rounds(2, 8), rounds(2, 12)]

const addUser = async (service: Service, token: string, username: string): Promise<number> => {
  const body = { username, name: username, email: `${username}@example.test`, password: rootPassword }
  return (await service.call('POST', '/api/v1/auth/users', { token, body })).status
}
const users = async (service: Service, token: string): Promise<readonly string[]> =>
  (await service.call('GET', '/api/v1/auth/users', { token })).body.map(
    ({ username }: { username: string }) => username,
  )
const holds = (folder: string, text: string): readonly string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile() && readFileSync(join(entry.parentPath, entry.name)).includes(text))
    .map(entry => entry.name)

describe('the encrypted store of a service', () => {
  test('is created from a plain store, and then needs its password and its key', async () => {
    using state = newState()
    const first = await startService({ state: state.path, env: plain })
    expect(await addUser(first, await first.signIn(), 'jane')).toBe(201)
    await first.stop()

    const second = await startService({ state: state.path, env: sealed })
    expect(second.log()).toContain('store.db.plain')
    const token = await second.signIn()
    expect(await users(second, token)).toEqual(expect.arrayContaining(['jane', 'root']))
    rmSync(join(state.path, 'store.db.plain'))
    expect(holds(state.path, 'jane@example.test')).toEqual([])
    await second.stop()

    const before = readFileSync(join(state.path, 'store.db'))
    const refused = async (env: Record<string, string>, told: string): Promise<void> => {
      expect(await runProgram(['serve'], env, state.path)).toMatchObject({
        code: 1,
        stderr: expect.stringContaining(told),
      })
      expect(readFileSync(join(state.path, 'store.db')).equals(before)).toBe(true)
    }
    await refused(plain, 'VMHOST_STORAGE_PASSWORD')
    await refused({ ...sealed, VMHOST_STORAGE_PASSWORD: 'not the password' }, 'is not the one')
    const key = join(state.path, 'keys/signing.pem')
    copyFileSync(key, `${key}.kept`)
    rmSync(key)
    await refused(sealed, 'is missing')
    expect((await runProgram(['keygen', key], {}, state.path)).code).toBe(0)
    await refused(sealed, 'another private key')
    copyFileSync(`${key}.kept`, key)
    const last = await startService({ state: state.path, env: sealed })
    expect(await users(last, token)).toContain('jane')
    await last.stop()
  })

  test('keeps all documents when its key is rotated, also if the service is killed meanwhile', async () => {
    using state = newState()
    const tokens: string[] = []
    let took = 0
    for (let round = 0; round < rotations; round += 1) {
      const service = await startService({ state: state.path, env: sealed })
      tokens.push(await service.signIn())
      expect(await addUser(service, tokens[0]!, `user${round}`)).toBe(201)
      for (const token of tokens) expect((await users(service, token)).length).toBe(round + 2)
      const rotate = () => service.call('POST', '/api/v1/auth/key/rotate', { token: tokens[0]! })
      if (round % 4 === 0) took = await timed(rotate)
      else {
        void rotate().catch(() => undefined)
        await passing(Math.random(), took)
      }
      await service.kill()
    }
    const service = await startService({ state: state.path, env: sealed })
    for (const token of tokens) expect((await users(service, token)).length).toBe(rotations + 1)
    await service.stop()
  })

  test('is either plain or encrypted, and complete, after a kill during its encryption', async () => {
    using state = newState()
    const first = await startService({ state: state.path, env: plain })
    const token = await first.signIn()
    for (let at = 0; at < 8; at += 1) await addUser(first, token, `user${at}`)
    await first.stop()
    const whole = readFileSync(join(state.path, 'store.db'))
    const took = await timed(() => runProgram(['users', 'list'], sealed, state.path))
    let encrypted = 0
    let during = 0
    for (let round = 0; round < kills; round += 1) {
      rmSync(join(state.path, 'keys/store-is-encrypted'), { force: true })
      rmSync(join(state.path, 'store.db.new'), { force: true })
      writeFileSync(join(state.path, 'store.db'), whole)
      const child = spawn(process.execPath, [resolve('dist/vmhost.mjs'), 'users', 'list'], {
        env: { PATH: process.env['PATH'], VMHOST_STATE: state.path, ...sealed },
        stdio: 'ignore',
      })
      const ended = new Promise(settle => child.once('exit', settle))
      // Every other one while the encrypted file is being written, and the others at any time.
      if (round % 2 === 0) {
        while (!existsSync(join(state.path, 'store.db.new')) && child.exitCode === null) await pause(1)
        during += Number(child.exitCode === null)
      } else await passing(round / kills, took)
      child.kill('SIGKILL')
      await ended
      rmSync(join(state.path, 'keys/store-is-encrypted'), { force: true })
      const listed = await runProgram(['users', 'list'], plain, state.path)
      if (listed.code !== 0) {
        expect(listed.stderr).toContain('is encrypted')
        encrypted += 1
      }
      const again = await runProgram(['users', 'list'], sealed, state.path)
      expect(again).toMatchObject({ code: 0, stdout: expect.stringContaining('user7') })
      for (const left of ['store.db-wal', 'store.db-shm']) rmSync(join(state.path, left), { force: true })
    }
    expect(during).toBeGreaterThan(kills / 4)
    console.log(
      `${kills} kills of a first encryption, ${during} while it was written: ${encrypted} after it was done, ${kills - encrypted} before`,
    )
  })

  test('can be backed up while it is in use, restored, and given another password', async () => {
    using state = newState()
    const copy = join(state.path, 'copy.db')
    const vmhost = (args: string, env: Record<string, string> = sealed, stdin = '') =>
      runProgram(args.split(' '), env, state.path, stdin)
    const first = await startService({ state: state.path, env: sealed })
    const token = await first.signIn()
    await addUser(first, token, 'before')
    let stop = false
    let added = 0
    const load = (async () => {
      for (; !stop; added += 1) await first.call('POST', '/api/v1/auth/claims', { token, body: { name: `C${added}` } })
    })()
    expect(await vmhost(`storage backup ${copy}`, {})).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('encrypted'),
    })
    stop = true
    await load
    await addUser(first, token, 'after')
    expect(await vmhost(`storage restore ${copy}`)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('Another vmhost runs'),
    })
    await first.stop()

    const whole = readFileSync(copy)
    writeFileSync(`${copy}.cut`, whole.subarray(0, whole.length - 4096))
    copyFileSync(copy, `${copy}.flipped`)
    const damaging = new DatabaseSync(`${copy}.flipped`)
    damaging.exec("UPDATE kv SET value = substr(value, 1, 20) || x'5a' || substr(value, 22) WHERE key LIKE 'users:%'")
    damaging.close()
    const before = readFileSync(join(state.path, 'store.db'))
    for (const damaged of ['cut', 'flipped'])
      expect((await vmhost(`storage restore ${copy}.${damaged}`)).code, damaged).toBe(1)
    expect((await vmhost(`storage backup ${copy}`)).stderr).toContain('exists already')
    expect((await vmhost(`storage backup ${join(state.path, 'store.db')}`)).stderr).toContain('exists already')
    expect((await vmhost(`storage restore ${copy}`, { VMHOST_STORAGE_PASSWORD: 'not the password' })).code).toBe(1)
    expect((await vmhost(`storage restore ${copy}.nothing`)).code).toBe(1)
    expect(readFileSync(join(state.path, 'store.db')).equals(before)).toBe(true)

    const restored = await vmhost(`storage restore ${copy}`)
    const kept = /replaced store is in (\S+)\.\n/.exec(restored.stdout)![1]!
    expect((await vmhost('users list')).stdout).toContain('before@')
    expect((await vmhost('users list')).stdout).not.toContain('after@')
    expect((await vmhost(`storage restore ${kept}`)).code).toBe(0)
    expect((await vmhost('users list')).stdout).toContain('after@')

    expect((await vmhost('storage rekey', sealed, 'short')).stderr).toContain('12 characters')
    expect((await vmhost('storage rekey', sealed, 'quite another password')).code).toBe(0)
    expect((await vmhost('users list')).stderr).toContain('is not the one')
    expect((await vmhost('users list', { VMHOST_STORAGE_PASSWORD: 'quite another password' })).stdout).toContain(
      'after@',
    )
    expect((await vmhost('storage rekey', {}, 'x')).stderr).toContain('VMHOST_STORAGE_PASSWORD')
  })

  test('is not replaced by a plain copy by accident; files that cannot be copied are named, and nothing is left', async () => {
    using state = newState()
    using copies = newFolder()
    const vmhost = (args: string, env: Record<string, string> = {}) => runProgram(args.split(' '), env, state.path)
    const refused = async (args: string, told: string, env: Record<string, string> = {}): Promise<void> => {
      const { code, stderr } = await vmhost(args, env)
      expect([code, stderr.trim().split('\n').length, stderr], args).toEqual([1, 1, expect.stringContaining(told)])
    }
    await refused(`storage backup ${copies.path}/none.db`, `There is no store in ${state.path}`)
    await (await startService({ state: state.path, env: plain })).stop()
    const [first, second] = [join(copies.path, 'plain.db'), join(copies.path, 'encrypted.db')]
    expect((await vmhost(`storage backup ${first}`)).code).toBe(0)
    await (await startService({ state: state.path, env: sealed })).stop()
    expect((await vmhost(`storage backup ${second}`)).code).toBe(0)
    await refused('storage backup /nowhere/at/all', 'There is no folder /nowhere/at. Make it')
    await refused('storage restore /etc/hostname', '/etc/hostname is no copy of a store that can be used')
    const before = readFileSync(join(state.path, 'store.db'))
    for (const env of [plain, sealed]) await refused(`storage restore ${first}`, 'is not encrypted', env)
    expect(readFileSync(join(state.path, 'store.db')).equals(before)).toBe(true)
    expect((await vmhost(`storage restore ${second}`, sealed)).code).toBe(0)

    rmSync(join(state.path, 'keys/store-is-encrypted'))
    expect(await vmhost(`storage restore ${first}`)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining(`Restored ${first}, which is not encrypted.`),
    })
    expect((await vmhost('users list')).stdout).toContain('root')
    expect(readdirSync(copies.path).toSorted()).toEqual(['encrypted.db', 'plain.db'])
  })
})
