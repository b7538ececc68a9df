import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { groupAddress } from '#lib/auth/lockout-policy.ts'
import { openStore } from '#lib/storage/open-store.ts'
import { newFolder } from '../../support/folder.ts'
import type { Answer } from '../../support/harness.ts'
import { type Ask, askOf, lockoutPolicy, newIdentity, newPasswords, rootPassword } from '../../support/identity.ts'

const start = Date.UTC(2026, 5, 1)

describe('lock-out', () => {
  let ask: Ask
  let passwords: ReturnType<typeof newPasswords>

  const open = async (lockout = lockoutPolicy): Promise<void> => {
    passwords = newPasswords()
    ask = askOf(await newIdentity({ passwords, lockout }))
  }
  const signIn = (username: string, password: string, address?: string): Promise<Answer> =>
    ask('POST', '/auth/token', { body: { username, password }, ...(address && { address }) })
  const fail = async (times: number, username = 'root', address?: string): Promise<readonly number[]> => {
    const statuses: number[] = []
    for (let at = 0; at < times; at += 1) statuses.push((await signIn(username, 'wrong', address)).status)
    return statuses
  }
  const wait = (seconds: number): void => void vi.setSystemTime(Date.now() + seconds * 1000)

  beforeEach(async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: start })
    await open()
  })
  afterEach(() => void vi.useRealTimers())

  test('refuses a locked account even with the right password, gives the remaining time, and does not hash', async () => {
    expect(await fail(5)).toEqual([401, 401, 401, 401, 401])
    const before = passwords.compared()
    const answer = await signIn('root', rootPassword)
    expect(answer).toMatchObject({
      status: 429,
      body: { code: 429, error: 'user_blocked', error_description: expect.stringContaining('5 seconds') },
    })
    expect(answer.headers.get('retry-after')).toBe('5')
    expect(passwords.compared()).toBe(before)
    wait(5)
    expect((await signIn('root', rootPassword)).status).toBe(200)
    expect(await fail(4)).toEqual([401, 401, 401, 401])
  })

  test.for([
    [5, 5],
    [6, 10],
    [10, 30],
    [300, 900],
  ] as const)('after %i failures lasts %i seconds', async ([failures, seconds]) => {
    await open({ ...lockoutPolicy, addressAttempts: 0 })
    for (let at = 0; at < failures; at += 1) {
      await fail(1)
      if (at < failures - 1) wait(Math.min(900, Math.max(0, (at + 1 - 4) * 5)))
    }
    expect((await signIn('root', rootPassword)).headers.get('retry-after')).toBe(String(seconds))
  })

  test('a refusal does not make the lock longer', async () => {
    await fail(5)
    wait(3)
    expect(await fail(20)).toEqual(Array.from({ length: 20 }, () => 429))
    wait(2)
    expect((await signIn('root', rootPassword)).status).toBe(200)
  })

  test('treats an unknown name like a known one', async () => {
    for (const name of ['root', 'nobody']) {
      expect(await fail(6, name)).toEqual([401, 401, 401, 401, 401, 429])
    }
    const [known, unknown] = [await signIn('ROOT', 'wrong'), await signIn('NOBODY', 'wrong')]
    expect(known.body).toEqual(unknown.body)
  })

  test('counts the failures of a user together, whichever name was typed', async () => {
    await fail(3, 'root')
    expect(await fail(3, 'ROOT@localhost')).toEqual([401, 401, 429])
  })

  test('counts an address over all accounts, and does not affect other addresses', async () => {
    for (let at = 0; at < 50; at += 1) await fail(1, `user${at}`, '198.51.100.7')
    expect((await signIn('root', rootPassword, '198.51.100.7')).status).toBe(429)
    expect((await signIn('root', rootPassword, '198.51.100.8')).status).toBe(200)
  })

  test('runs no more checks at once than may still fail', async () => {
    await open({ ...lockoutPolicy, addressAttempts: 0 })
    const answers = await Promise.all(Array.from({ length: 100 }, () => signIn('root', 'wrong')))
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(5)
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(95)
    expect(passwords.compared()).toBe(5)
  })

  test('many clients that sign in at once with the right password all succeed', async () => {
    const answers = await Promise.all(Array.from({ length: 60 }, () => signIn('root', rootPassword)))
    expect(answers.every(({ status }) => status === 200)).toBe(true)
  })

  test('of 1,000 wrong passwords from 100 addresses only the configured number is hashed', async () => {
    const tries = Array.from({ length: 1_000 }, (_, at) => signIn('root', 'wrong', `203.0.113.${at % 100}`))
    const answers = await Promise.all(tries)
    expect(passwords.compared()).toBe(5)
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(5)
    expect((await signIn('root', rootPassword, '192.0.2.99')).status).toBe(429)
  })

  test('is shown in the record, and ended by a caller who may change the user', async () => {
    const { token } = (await signIn('root', rootPassword)).body
    const body = { username: 'jane', name: 'Jane', email: 'jane@example.test', password: rootPassword }
    await ask('POST', '/auth/users', { token, body })
    await fail(5, 'jane')
    expect((await ask('GET', '/auth/users/jane', { token })).body.locked_until).toBe(
      new Date(start + 5000).toISOString(),
    )
    // What she has open stays open: otherwise anybody could end anybody's work.
    expect((await ask('DELETE', '/auth/users/jane/lock', { token })).status).toBe(202)
    expect((await ask('GET', '/auth/users/jane', { token })).body).not.toHaveProperty('locked_until')
    expect((await signIn('jane', rootPassword)).status).toBe(200)
  })

  test('counts wrong API keys at sign-in too', async () => {
    const bad = (): Promise<Answer> =>
      ask('POST', '/auth/token', { body: { api_key: Buffer.from('FARM:wrong').toString('base64') } })
    const statuses: number[] = []
    for (let at = 0; at < 6; at += 1) statuses.push((await bad()).status)
    expect(statuses).toEqual([401, 401, 401, 401, 401, 429])
  })

  test('survives a restart, and forgets failures after the configured time', async () => {
    using folder = newFolder()
    let store = await openStore({ folder: folder.path })
    const restart = async (): Promise<void> => {
      await store[Symbol.asyncDispose]()
      store = await openStore({ folder: folder.path })
      ask = askOf(await newIdentity({ store }))
    }
    await restart()
    await fail(5)
    await restart()
    expect((await signIn('root', rootPassword)).status).toBe(429)
    wait(5)
    expect(await fail(1)).toEqual([401])
    expect((await signIn('root', rootPassword)).headers.get('retry-after')).toBe('10')
    wait(86_401)
    await restart()
    expect(await fail(4)).toEqual([401, 401, 401, 401])
    await store[Symbol.asyncDispose]()
  })

  test('can be switched off', async () => {
    await open({ ...lockoutPolicy, attempts: 0, addressAttempts: 0 })
    expect(new Set(await fail(100))).toEqual(new Set([401]))
    expect((await signIn('root', rootPassword)).status).toBe(200)
  })

  test.for([
    ['192.0.2.1', '192.0.2.1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:db8:1:2::9', '2001:db8:1:2::/64'],
    ['2001:0db8::1', '2001:db8:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['local', 'local'],
  ] as const)('the address %s counts as %s', ([address, group]) => {
    expect(groupAddress(address)).toBe(group)
  })
})
