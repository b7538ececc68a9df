import { createHmac, generateKeyPairSync, type KeyObject } from 'node:crypto'
import { type JWK, SignJWT } from 'jose'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { Principal } from '#lib/access/principal.ts'
import { assertionType, nonceHeader } from '#lib/auth/assertions/assertion.ts'
import { createSignAssertion } from '#lib/auth/assertions/sign-assertion.ts'
import { createTokenKey, exportPublicJwk } from '#lib/auth/token-key.ts'
import { createTrustedIssuers, type TrustedIssuer, type TrustedIssuers } from '#lib/auth/assertions/trusted-issuers.ts'
import type { ServiceError } from '#lib/errors.ts'
import { createMemoryStore } from '#lib/storage/memory-store.ts'
import { askOf, newIdentity, rootPassword } from '../../support/identity.ts'

const start = Date.UTC(2026, 5, 1)
const seconds = (after = 0): number => start / 1000 + after
const makeKey = async () => createTokenKey('RS256', generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey)
const [own, foreign] = [await makeKey(), await makeKey()]
const publicKey = await exportPublicJwk('RS256', own)
const audience = '00000000-0000-4000-8000-00000000a001'
const issuer = 'https://control.example.test'
const trusted: TrustedIssuer = { issuer, audience, algorithm: 'RS256', jwks: { keys: [{ ...publicKey, kty: 'RSA' }] } }
const alice: Principal = {
  id: '00000000-0000-4000-8000-0000000000a1',
  username: 'alice',
  email: 'alice@example.test',
  roles: ['USER'],
  claims: new Set(['LIST_VM']),
  superUser: false,
}
const sign = createSignAssertion({ keys: { algorithm: 'RS256', current: () => own }, issuer })

const claimsOf = (more: object = {}) => ({
  iss: issuer,
  aud: audience,
  sub: alice.id,
  username: 'alice',
  email: 'alice@example.test',
  roles: ['USER'],
  claims: ['LIST_VM'],
  iat: seconds(),
  exp: seconds(60),
  jti: crypto.randomUUID(),
  ...more,
})
const make = (more: object = {}, header: object = {}, key: { id: string; signing: KeyObject } = own) =>
  new SignJWT(claimsOf(more))
    .setProtectedHeader({ alg: 'RS256', typ: assertionType, kid: own.id, ...header })
    .sign(key.signing)
const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')

const unreachable = async (): Promise<never> => {
  throw new Error('no network')
}
const open = (
  issuers: readonly TrustedIssuer[] = [trusted],
  fetchJson: (url: string) => Promise<unknown> = unreachable,
) => createTrustedIssuers({ issuers, fetchJson, nonce: crypto.randomUUID(), isLocalUser: id => id === 'local' })
const credential = (bearer: string, changes = false) => ({ bearer, apiKey: undefined, changes })
const refused = { fault: 'unauthenticated' }

/** The nonce of a run, as it names it in its refusal of a change without one. */
const askNonce = async (issuers: TrustedIssuers): Promise<string> => {
  const refusal: unknown = await issuers.principal(credential(await make(), true))!.catch((error: unknown) => error)
  expect(refusal).toMatchObject({ ...refused, message: expect.stringContaining('another run') })
  return (refusal as ServiceError).headers[nonceHeader]!
}

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'], now: start }))
afterEach(() => void vi.useRealTimers())

describe('an assertion', () => {
  test('says who the user is and has no other rights than the user', async () => {
    const principal = await open().principal(credential(await sign(alice, audience)))
    expect(principal).toEqual({ ...alice, issuer, assertion: expect.any(String) })
    const root = { ...alice, roles: ['SUPER_USER'], superUser: true }
    expect(await open().principal(credential(await sign(root, audience)))).toMatchObject({ superUser: true })
  })

  test.each([
    ['for another audience', { aud: '00000000-0000-4000-8000-00000000a002' }],
    ['for several audiences', { aud: [audience, 'other'] }],
    ['of an unknown issuer', { iss: 'https://other.example.test' }],
    ['without an issuer', { iss: undefined }],
    ['that has expired', { iat: seconds(-70), exp: seconds(-10) }],
    ['that lives too long', { exp: seconds(61) }],
    ['that expires before it begins', { iat: seconds(4), exp: seconds(3) }],
    ['of the future', { iat: seconds(30), exp: seconds(60) }],
    ['without an expiry', { exp: undefined }],
    ['without an id', { jti: undefined }],
    ['without a user', { sub: undefined }],
    ['for a user whose id is none', { sub: 'root' }],
    ['for a user with a hidden name', { username: 'al\u0000ice' }],
  ])('%s is refused', async (_, more) => {
    await expect(open().principal(credential(await make(more)))).rejects.toMatchObject(refused)
  })

  test('within the difference of two clocks is accepted', async () => {
    await open().principal(credential(await make({ iat: seconds(4), exp: seconds(60) })))
    await open().principal(credential(await make({ iat: seconds(-64), exp: seconds(-4) })))
  })

  test('is refused when its signature is of another key, whatever its header says', async () => {
    for (const [header, key] of [
      [{}, foreign],
      [{ kid: foreign.id }, foreign],
      [{ kid: undefined }, own],
      [{ jwk: await exportPublicJwk('RS256', foreign) }, foreign],
    ] as const)
      await expect(open().principal(credential(await make({}, header, key)))).rejects.toMatchObject(refused)
  })

  test('is refused with another algorithm: none, or a secret made of the public key', async () => {
    const header = { typ: assertionType, kid: own.id }
    const unsigned = `${part({ ...header, alg: 'none' })}.${part(claimsOf())}.`
    const pem = own.verification.export({ type: 'spki', format: 'pem' }).toString()
    const content = `${part({ ...header, alg: 'HS256' })}.${part(claimsOf())}`
    const forged = `${content}.${createHmac('sha256', pem).update(content).digest('base64url')}`
    const other = await make({}, { alg: 'RS512' })
    for (const token of [unsigned, forged, other])
      await expect(open().principal(credential(token))).rejects.toMatchObject(refused)
  })

  test('in a key set that holds a secret or a private key uses neither', async () => {
    const secret = { kty: 'oct', kid: own.id, k: Buffer.from('secret').toString('base64url') }
    const privateKey = { ...(own.signing.export({ format: 'jwk' }) as JWK), kty: 'RSA', kid: own.id }
    for (const key of [secret, privateKey])
      await expect(
        open([{ ...trusted, jwks: { keys: [key] } }]).principal(credential(await make())),
      ).rejects.toMatchObject(refused)
  })

  test('for a change is used once; the steps of one request may ask again', async () => {
    const issuers = open()
    const token = await make({ nonce: await askNonce(issuers) })
    const first = credential(token, true)
    await issuers.principal(first)
    await issuers.principal(first)
    await expect(issuers.principal(credential(token, true))).rejects.toThrow('used before')
  })

  test('that was used to read cannot make a change', async () => {
    const issuers = open()
    const token = await make({ nonce: await askNonce(issuers) })
    await issuers.principal(credential(token))
    await issuers.principal(credential(token))
    await expect(issuers.principal(credential(token, true))).rejects.toThrow('used before')
  })

  test('for an earlier run cannot make a change, because its use is forgotten', async () => {
    const issuers = open()
    const token = await make({ nonce: await askNonce(issuers) })
    await issuers.principal(credential(token, true))
    const restarted = open()
    await expect(restarted.principal(credential(token, true))).rejects.toThrow('another run')
    await open().principal(credential(token))
  })

  test('is good for its request however long that takes, and for no other one', async () => {
    const issuers = open()
    const token = await make({ nonce: await askNonce(issuers) })
    await issuers.principal(credential(token, true))
    const admittedAt = Date.now()
    vi.useFakeTimers({ toFake: ['Date'], now: admittedAt + 3_600_000 })
    expect(await issuers.principal({ ...credential(token), admittedAt })).toMatchObject({ username: alice.username })
    await expect(issuers.principal(credential(token, true))).rejects.toMatchObject(refused)
    await expect(issuers.principal({ ...credential(token), admittedAt: Date.now() })).rejects.toMatchObject(refused)
  })

  test('under the id of a local user is refused', async () => {
    const issuers = createTrustedIssuers({
      issuers: [trusted],
      fetchJson: unreachable,
      nonce: crypto.randomUUID(),
      isLocalUser: id => id === alice.id,
    })
    await expect(issuers.principal(credential(await make()))).rejects.toThrow('has the id of its user')
  })

  test('is not what a token is: the one cannot take the place of the other', async () => {
    expect(open().principal(credential(await make({}, { typ: 'JWT' })))).toBeUndefined()
    expect(open().principal(credential('a.b.c'))).toBeUndefined()
    const identity = await newIdentity()
    await expect(identity.authenticate(credential(await make()))).rejects.toMatchObject(refused)
  })
})

describe('the keys of an issuer at an address', () => {
  const jwks = `${issuer}/.well-known/jwks.json`
  const fetched = { ...trusted, jwks }

  test('are fetched once, and again for a key that is new, but not for each unknown key', async () => {
    let keys: object[] = []
    const fetchJson = vi.fn<(url: string) => Promise<unknown>>(async () => ({ keys }))
    const issuers = open([fetched], fetchJson)
    await expect(issuers.principal(credential(await make()))).rejects.toMatchObject(refused)
    keys = [publicKey]
    await expect(issuers.principal(credential(await make()))).rejects.toMatchObject(refused)
    vi.setSystemTime(start + 11_000)
    await issuers.principal(credential(await make()))
    await issuers.principal(credential(await make()))
    expect(fetchJson.mock.calls).toEqual([[jwks], [jwks]])
  })

  test('that cannot be fetched let nobody in', async () => {
    await expect(open([fetched]).principal(credential(await make()))).rejects.toMatchObject({ fault: 'unavailable' })
    const garbage = open([fetched], async () => ({ keys: 'none' }))
    await expect(garbage.principal(credential(await make()))).rejects.toMatchObject({ fault: 'unavailable' })
  })

  test('that the issuer has withdrawn are refused after five minutes', async () => {
    let keys: object[] = [publicKey]
    const issuers = open([fetched], async () => ({ keys }))
    await issuers.principal(credential(await make()))
    keys = [await exportPublicJwk('RS256', foreign)]
    vi.setSystemTime(start + 301_000)
    const later = { iat: seconds(301), exp: seconds(361) }
    await expect(issuers.principal(credential(await make(later)))).rejects.toMatchObject(refused)
  })
})

describe('a service that trusts an issuer', () => {
  test('gives its user nothing of a local user with the same name', async () => {
    const store = await createMemoryStore()
    const identity = await newIdentity({
      store,
      trusted: { issuers: [trusted], fetchJson: unreachable, nonce: crypto.randomUUID() },
    })
    const ask = askOf(identity)
    const { body } = await ask('POST', '/auth/token', { body: { email: 'root', password: rootPassword } })
    const local = { username: 'alice', name: 'Alice', email: 'alice@example.test', password: rootPassword }
    const made = await ask('POST', '/auth/users', { token: body.token, body: { ...local, roles: ['SUPER_USER'] } })
    expect(made.status).toBe(201)

    const principal = await identity.authenticate(credential(await make()))
    expect(principal).toEqual({ ...alice, issuer, assertion: expect.any(String) })
    expect((await ask('GET', '/auth/users', { token: await make() })).status).toBe(403)
    expect((await ask('GET', '/auth/users', { token: await make({ claims: ['LIST_USER'] }) })).status).toBe(200)
  })

  test.each([
    ['has more claims than a host accepts', { claims: new Set(Array.from({ length: 1_001 }, (_, at) => `C${at}`)) }],
    [
      'does not fit into a header',
      { claims: new Set(Array.from({ length: 500 }, (_, at) => `A_LONG_CLAIM_NAME_${at}`)) },
    ],
    ['has a name that a host refuses', { roles: ['\u0000'] }],
  ])('gets no assertion of a user who %s', async (_, more) => {
    await expect(sign({ ...alice, ...more }, audience)).rejects.toMatchObject({
      fault: 'conflict',
      message: expect.stringContaining('rights of alice'),
    })
  })

  test('signs no assertion with a secret', async () => {
    const secret = createSignAssertion({ keys: { algorithm: 'HS256', current: () => own }, issuer })
    await expect(secret(alice, audience)).rejects.toMatchObject({ fault: 'unsupported' })
  })
})
