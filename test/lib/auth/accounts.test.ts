import { afterAll, describe, expect, test } from 'vitest'
import { every } from '#lib/async/every.ts'
import { findMissingRight } from '#lib/access/requirement.ts'
import { createAccounts } from '#lib/auth/accounts.ts'
import { openDirectory } from '#lib/auth/directory.ts'
import { claimNames, roleClaims } from '#lib/access/claims.ts'
import { createPasswordRules } from '#lib/auth/password-policy.ts'
import { createPasswords } from '#lib/auth/passwords.ts'
import { createThreadHasher } from '#lib/auth/thread-hasher.ts'
import { createRootConfirmation } from '#lib/auth/root-confirmation.ts'
import { openEvents } from '#lib/events/events.ts'
import { createStartWorker } from '#lib/platform/workers.ts'
import { createMemoryStore } from '#lib/storage/memory-store.ts'
import { passwordPolicy } from '../../support/identity.ts'

const startWorker = createStartWorker(new URL('../../../lib/entry/main.ts', import.meta.url))
const passwords = createPasswords({ hasher: createThreadHasher(startWorker), method: { kind: 'bcrypt', cost: 4 } })
afterAll(() => passwords.close())

const good = 'Correct-Horse-9-Battery'
const rules = createPasswordRules(passwordPolicy)
const newAccounts = async () => {
  const store = await createMemoryStore()
  const { publish } = await openEvents(store, { every })
  const confirmation = createRootConfirmation(store, new Uint8Array(32), 'at each start')
  return createAccounts({ directory: await openDirectory(store, publish), passwords, rules, confirmation })
}

describe('root', () => {
  test('is created once, with a password that satisfies the rules and is shown once', async () => {
    const accounts = await newAccounts()
    const first = await accounts.ensureRoot(undefined)
    expect(() => rules.check(first.newPassword!, 'It')).not.toThrow()
    expect(await accounts.ensureRoot(undefined)).toEqual({ id: first.id })
    const root = (await accounts.find('ROOT'))!
    expect(root.password).not.toContain(first.newPassword!)
    expect(await passwords.verify(first.newPassword!, root.password)).toBe(true)
    expect(await accounts.principal(root.id)).toMatchObject({ username: 'root', superUser: true })
  })

  test('gets the configured password at every start', async () => {
    const accounts = await newAccounts()
    expect(await accounts.ensureRoot(good)).toEqual({ id: expect.any(String) })
    await accounts.ensureRoot('Another-Horse-7-Battery')
    const root = (await accounts.find('root@localhost'))!
    expect(await passwords.verify('Another-Horse-7-Battery', root.password)).toBe(true)
    expect(await passwords.verify(good, root.password)).toBe(false)
  })

  test.for([
    ['short1A-', 'at least 12'],
    ['alllowercase-9-words', 'upper-case'],
    ['ALLUPPERCASE-9-WORDS', 'lower-case'],
    ['No-Digits-In-Here', 'digit'],
    ['NoSpecials9InHere', 'special'],
    [`Aa9-${'é'.repeat(40)}`, '72 bytes'],
  ] as const)('cannot have the password %s', async ([password, reason]) => {
    const accounts = await newAccounts()
    await expect(accounts.ensureRoot(password)).rejects.toMatchObject({
      fault: 'invalid',
      message: expect.stringContaining(reason),
    })
    expect(await accounts.find('root')).toBeUndefined()
  })

  test('random passwords satisfy the rules and differ', () => {
    const made = Array.from({ length: 200 }, rules.generate)
    for (const password of made) rules.check(password, 'It')
    expect(new Set(made).size).toBe(200)
  })
})

describe('hashing', () => {
  test('refuses jobs when the queue is full', async () => {
    const narrow = createPasswords({
      hasher: createThreadHasher(startWorker),
      method: { kind: 'bcrypt', cost: 4 },
      maxQueued: 2,
    })
    const three = await Promise.allSettled([1, 2, 3].map(async () => narrow.hash(good)))
    expect(three.map(one => one.status)).toEqual(['fulfilled', 'fulfilled', 'rejected'])
    expect(three[2]).toMatchObject({ reason: { fault: 'unavailable', headers: { 'Retry-After': '5' } } })
    await narrow.close()
  })

  test('starts a new thread after the old one has died', async () => {
    const workers: ReturnType<typeof startWorker>[] = []
    const fragile = createPasswords({
      hasher: createThreadHasher((...all) => {
        workers.push(startWorker(...all))
        return workers.at(-1)!
      }),
    })
    const lost = expect(fragile.hash(good)).rejects.toMatchObject({ fault: 'unavailable' })
    await new Promise(resolve => workers[0]!.once('online', resolve))
    await workers[0]!.terminate()
    await lost
    expect(await fragile.verify(good, await fragile.hash(good))).toBe(true)
    await fragile.close()
  })
})

describe('claims and access', () => {
  test('are the full list that clients know', () => {
    expect(claimNames).toHaveLength(94)
    expect(new Set(claimNames).size).toBe(94)
    expect(roleClaims.USER).toHaveLength(30)
    expect(roleClaims.ADMIN).toHaveLength(92)
  })

  const principal = (roles: string[], claims: string[]) => ({
    id: 'p',
    username: 'p',
    email: 'p',
    roles,
    claims: new Set(claims),
    superUser: roles.includes('SUPER_USER'),
  })
  test.for([
    ['signed-in', [], [], true],
    [{ claims: ['LIST_VM', 'LIST'] }, [], ['LIST_VM', 'LIST'], true],
    [{ claims: ['LIST_VM', 'LIST'] }, [], ['LIST_VM'], false],
    [{ claims: ['LIST_VM'] }, ['SUPER_USER'], [], true],
    [{ anyClaim: ['LIST_VM', 'LIST'] }, [], ['LIST'], true],
    [{ anyClaim: ['LIST_VM', 'LIST'] }, [], [], false],
    [{ roles: ['SUPER_USER'] }, ['ADMIN'], [...claimNames], false],
    [{ roles: ['SUPER_USER'], claims: ['LIST'] }, ['SUPER_USER'], [], true],
  ] as const)('%o for roles %o and claims %o: %s', ([access, roles, claims, may]) => {
    expect(findMissingRight(access, principal([...roles], [...claims])) === undefined).toBe(may)
  })
})
