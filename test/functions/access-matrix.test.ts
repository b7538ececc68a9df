import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { claimNames, roleClaims } from '#lib/access/claims.ts'
import { ServiceError } from '#lib/errors.ts'
import { createApp } from '#lib/http/app.ts'
import type { Route } from '#lib/http/endpoint.ts'
import { parseFilter } from '#lib/calls/list-filter.ts'
import type { Services } from '#lib/compose/services.ts'
import { routes as table } from '#functions/routes.gen.ts'
import { type Caller, type Held, playAccessMatrix } from '../contracts/access-matrix.ts'
import type { Answer } from '../support/harness.ts'
import { type Ask, askOf, newIdentity, rootPassword } from '../support/identity.ts'

const routes = table as readonly Route[]
const start = Date.UTC(2026, 5, 1)

/** Services whose calls do nothing but report that the request was admitted. */
const reached = (): never => {
  throw new ServiceError('unavailable', 'the gate was passed')
}
const passedServices = new Proxy({} as Services, {
  get: () => new Proxy(reached, { get: () => reached, apply: reached }),
})

describe('the access matrix', () => {
  const callers: Caller[] = []
  let send: (method: string, path: string, headers: Record<string, string>) => Promise<number>

  beforeAll(async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: start })
    const identity = await newIdentity()
    const ask: Ask = askOf(identity)
    const password = rootPassword
    const signIn = async (username: string): Promise<string> =>
      (await ask('POST', '/auth/token', { body: { username, password } })).body.token
    const bearer = (token: string): Record<string, string> => ({ authorization: `Bearer ${token}` })
    const old = await signIn('root')
    vi.setSystemTime(start + 3_601_000)
    const root = await signIn('root')

    const asRoot = async (method: string, path: string, body?: object): Promise<Answer> => {
      const answer = await ask(method, path, { token: root, body })
      expect(answer.status, `${method} ${path}`).toBeLessThan(300)
      return answer
    }
    const addUser = async (username: string, more: object = {}): Promise<string> => {
      await asRoot('POST', '/auth/users', {
        username,
        name: username,
        email: `${username}@example.test`,
        password,
        ...more,
      })
      return signIn(username)
    }
    const addKey = async (name: string, more: object = {}): Promise<Record<string, string>> => ({
      'x-api-key': (await asRoot('POST', '/auth/api_keys', { name, ...more })).body.encoded,
    })
    const add = (name: string, held: Held, headers: Record<string, string>): void =>
      void callers.push({ name, held, headers })
    const holding = (claims: readonly string[]): Held => ({ roles: [], claims: new Set(claims) })
    const user = { roles: ['USER'], claims: new Set<string>(roleClaims.USER) }
    const superUser = { roles: ['SUPER_USER'], claims: new Set(claimNames) }

    add('nobody', undefined, {})
    add('a forged token', undefined, bearer('a.b.c'))
    add('an expired token', undefined, bearer(old))
    add('a plain user', user, bearer(await addUser('plain')))
    add('a user with nothing', holding([]), bearer(await addUser('nothing', { roles: [], claims: [] })))
    add('a super user', superUser, bearer(root))
    add('a key of a super user', superUser, await addKey('wide'))
    add('a key narrowed to LIST_VM', holding(['LIST_VM']), await addKey('narrow', { claims: ['LIST_VM'] }))

    const revoked = await addKey('revoked')
    await asRoot('PUT', '/auth/api_keys/revoked/revoke')
    add('a revoked key', undefined, revoked)
    const signedOut = await addUser('signed-out')
    await ask('DELETE', '/auth/token', { token: signedOut })
    add('a token that was signed out', undefined, bearer(signedOut))
    const gone = await addUser('gone')
    await asRoot('DELETE', '/auth/users/gone')
    add('the token of a user who is gone', undefined, bearer(gone))
    // A lock-out refuses sign-in only. Tokens stay valid, or anybody could end another user's work.
    const locked = await addUser('locked')
    for (let at = 0; at < 6; at += 1) await ask('POST', '/auth/token', { body: { username: 'locked', password: 'x' } })
    add('a user whose sign-in is locked', user, bearer(locked))

    for (const claim of claimNames)
      add(`only ${claim}`, holding([claim]), bearer(await addUser(`only-${claim}`, { roles: [], claims: [claim] })))
    const asked = routes.flatMap(({ endpoint: { access } }) =>
      typeof access === 'object' ? [...(access.claims ?? []), ...(access.anyClaim ?? [])] : [],
    )
    for (const claim of new Set(asked)) {
      const claims = claimNames.filter(name => name !== claim)
      add(`all but ${claim}`, holding(claims), bearer(await addUser(`no-${claim}`, { roles: [], claims })))
    }

    const app = createApp({
      routes,
      services: passedServices,
      authenticate: identity.authenticate,
      parseFilter,
      onOutcome: () => {},
      checkReplies: false,
    })
    send = async (method, path, headers) =>
      (await app.fetch(new Request(`https://host.example.test${path}`, { method, headers }), { address: '192.0.2.1' }))
        .status
  })
  afterAll(() => void vi.useRealTimers())

  test('every route admits and refuses every kind of caller as its contract says', async () => {
    const { wrong, cells } = await playAccessMatrix({ routes, callers, send })
    console.log(`access matrix: ${routes.length} routes, ${callers.length} callers, ${cells} cells`)
    expect(wrong).toEqual([])
    expect(cells).toBeGreaterThan(5_000)
  })
})
