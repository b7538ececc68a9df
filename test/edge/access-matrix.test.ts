import { request as httpRequest } from 'node:http'
import { expect, test } from 'vitest'
import { claimNames, roleClaims } from '#lib/access/claims.ts'
import type { Route } from '#lib/http/endpoint.ts'
import { routes as table } from '#functions/routes.gen.ts'
import { type Caller, type Held, playAccessMatrix } from '../contracts/access-matrix.ts'
import { startEdge } from '../support/workerd/edge.ts'

/** Public endpoints have no gate. A sign-out comes last, because it ends the tokens of the callers. */
const routes = (table as readonly Route[])
  .filter(({ endpoint }) => endpoint.access !== 'public')
  .toSorted((a, b) => Number(a.id === 'auth/sign-out') - Number(b.id === 'auth/sign-out'))

test('every route of the edge admits and refuses every kind of caller as its contract says', async () => {
  await using edge = await startEdge({ variables: { VMHOST_LOG: 'error' } })
  const root = await edge.signIn()
  const callers: Caller[] = []
  const bearer = (token: string): Record<string, string> => ({ authorization: `Bearer ${token}` })
  const add = (name: string, held: Held, headers: Record<string, string>): void =>
    void callers.push({ name, held, headers })
  const holding = (claims: readonly string[]): Held => ({ roles: [], claims: new Set(claims) })
  const addUser = async (username: string, more: object = {}): Promise<string> => {
    const user = { username, password: 'Somebodys-0wn-Password' }
    const body = { ...user, name: username, email: `${username}@example.test`, ...more }
    expect(await edge.ask('POST', '/v1/auth/users', { token: root, body })).toMatchObject({ status: 201 })
    return edge.signIn(user)
  }
  const addKey = async (name: string, more: object = {}): Promise<Record<string, string>> => {
    const { status, body } = await edge.ask('POST', '/v1/auth/api_keys', { token: root, body: { name, ...more } })
    expect(status, JSON.stringify(body)).toBe(201)
    return { 'x-api-key': body.encoded }
  }

  const superUser = { roles: ['SUPER_USER'], claims: new Set<string>(claimNames) }
  add('nobody', undefined, {})
  add('a forged token', undefined, bearer('a.b.c'))
  add('a plain user', { roles: ['USER'], claims: new Set<string>(roleClaims.USER) }, bearer(await addUser('plain')))
  add('a user with nothing', holding([]), bearer(await addUser('nothing', { roles: [], claims: [] })))
  add('a super user', superUser, bearer(root))
  add('a key of a super user', superUser, await addKey('wide'))
  const revoked = await addKey('revoked')
  await edge.ask('PUT', '/v1/auth/api_keys/revoked/revoke', { token: root })
  add('a revoked key', undefined, revoked)
  const signedOut = await addUser('signed-out')
  await edge.ask('DELETE', '/v1/auth/token', { token: signedOut })
  add('a token that was signed out', undefined, bearer(signedOut))
  const gone = await addUser('gone')
  await edge.ask('DELETE', '/v1/auth/users/gone', { token: root })
  add('the token of a user who is gone', undefined, bearer(gone))
  // Keys, because each password takes a third of a second.
  const asked = routes.flatMap(({ endpoint: { access } }) =>
    typeof access === 'object' ? [...(access.claims ?? []), ...(access.anyClaim ?? [])] : [],
  )
  const claims = [...new Set(asked)]
  for (const claim of claims) {
    add(`only ${claim}`, holding([claim]), await addKey(`only-${claim}`, { claims: [claim] }))
    const others = claims.filter(name => name !== claim)
    add(`all but ${claim}`, holding(others), await addKey(`no-${claim}`, { claims: others }))
  }

  const { wrong, cells } = await playAccessMatrix({
    routes,
    callers,
    send: (method, path, headers) =>
      new Promise((settle, reject) => {
        // A connection each: one that is kept open may close when it is used again.
        const request = httpRequest(edge.url + path, { method, headers, agent: false }, response => {
          settle(response.statusCode!)
          response.destroy()
        })
        request.once('error', reject)
        request.end()
      }),
  })
  console.log(`access matrix of the edge: ${routes.length} routes, ${callers.length} callers, ${cells} cells`)
  expect(wrong).toEqual([])
  expect(cells).toBeGreaterThan(5_000)
})
