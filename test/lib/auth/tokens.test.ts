import { createHmac, hash, createPublicKey, createSecretKey, generateKeyPairSync, type KeyObject } from 'node:crypto'
import fc from 'fast-check'
import { importPKCS8, SignJWT } from 'jose'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { createTokens, type TokenKeys, type Tokens } from '#lib/auth/tokens.ts'

const sha256 = (text: string): string => hash('sha256', text)
const pair = () => generateKeyPairSync('rsa', { modulusLength: 2048 })
const own = pair()
const foreign = pair()
const privatePem = (key: KeyObject): string => key.export({ type: 'pkcs8', format: 'pem' }).toString()
const publicPem = createPublicKey(own.privateKey).export({ type: 'spki', format: 'pem' }).toString()
const user = { uid: 'u1', email: 'a@example.test', username: 'a', roles: ['USER'], claims: ['LIST_VM'] }
const keys: TokenKeys = {
  algorithm: 'RS256',
  current: () => ({ id: 'k1', signing: own.privateKey }),
  find: () => ({ verification: own.publicKey }),
}
const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')

describe('tokens', () => {
  let tokens: Tokens
  beforeEach(async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: Date.UTC(2026, 5, 1) })
    tokens = createTokens({ keys, lifetime: 3600, sha256 })
  })
  afterEach(() => void vi.useRealTimers())

  test('carry the user they were issued for and their expiry', async () => {
    const { token, expiresAt } = await tokens.issue(user)
    expect(expiresAt).toBe(Date.UTC(2026, 5, 1, 1) / 1000)
    expect(await tokens.verify(token)).toMatchObject({ ...user, exp: expiresAt })
    expect(JSON.parse(Buffer.from(token.split('.')[0]!, 'base64url').toString())).toEqual({
      alg: 'RS256',
      typ: 'JWT',
      kid: 'k1',
    })
  })

  test('are refused when they have expired, even if they were verified just before', async () => {
    const { token } = await tokens.issue(user)
    await tokens.verify(token)
    vi.setSystemTime(Date.UTC(2026, 5, 1, 1, 0, 1))
    await expect(async () => tokens.verify(token)).rejects.toMatchObject({
      fault: 'unauthenticated',
      message: expect.stringContaining('expired'),
    })
    const fresh = createTokens({ keys, lifetime: 0, sha256 })
    await expect(async () => fresh.verify(token)).rejects.toThrow('expired')
  })

  test('are cached once verified: the 10,000 that were used last', async () => {
    const secret = createSecretKey(Buffer.alloc(32, 1))
    let asked = 0
    const counted = createTokens({
      keys: {
        algorithm: 'HS256',
        current: () => ({ id: 'k1', signing: secret }),
        find: () => {
          asked += 1
          return { verification: secret }
        },
      },
      lifetime: 3600,
      sha256,
    })
    const verifyNew = async (): Promise<string> => {
      const { token } = await counted.issue(user)
      await counted.verify(token)
      return token
    }
    const [first, second] = [await verifyNew(), await verifyNew()]
    for (let at = 2; at < 10_000; at += 1) await verifyNew()
    await counted.verify(first)
    expect(asked).toBe(10_000)
    await verifyNew()
    await counted.verify(first)
    expect(asked).toBe(10_001)
    await counted.verify(second)
    expect(asked).toBe(10_002)
  })

  const forgeries: readonly (readonly [string, () => Promise<string> | string])[] = [
    ['nothing', () => 'x'],
    ['three empty parts', () => '..'],
    [
      'no signature at all',
      () => `${part({ alg: 'none', typ: 'JWT' })}.${part({ ...user, exp: 9e9, iat: 0, jti: 'x' })}.`,
    ],
    [
      'the public key as an HMAC secret',
      () => {
        const text = `${part({ alg: 'HS256', typ: 'JWT' })}.${part({ ...user, exp: 9e9, iat: 0, jti: 'x' })}`
        return `${text}.${createHmac('sha256', publicPem).update(text).digest('base64url')}`
      },
    ],
    [
      'another key',
      async () =>
        new SignJWT({ ...user, jti: 'x' })
          .setProtectedHeader({ alg: 'RS256', typ: 'JWT', kid: 'k1' })
          .setIssuedAt()
          .setExpirationTime('1h')
          .sign(await importPKCS8(privatePem(foreign.privateKey), 'RS256')),
    ],
    [
      'a member missing',
      async () =>
        new SignJWT({ uid: 'u1', jti: 'x' })
          .setProtectedHeader({ alg: 'RS256', typ: 'JWT', kid: 'k1' })
          .setIssuedAt()
          .setExpirationTime('1h')
          .sign(await importPKCS8(privatePem(own.privateKey), 'RS256')),
    ],
    ['17,000 characters', () => 'a'.repeat(17_000)],
  ]
  test.for(forgeries)('with %s are refused', async ([, make]) => {
    await expect(async () => tokens.verify(await make())).rejects.toMatchObject({
      fault: 'unauthenticated',
      message: expect.not.stringContaining('expired'),
    })
  })

  test('are refused when any byte of them was changed', async () => {
    const { token } = await tokens.issue(user)
    await tokens.verify(token)
    for (let at = 0; at < token.length; at += 7) {
      const changed = `${token.slice(0, at)}${token[at] === 'A' ? 'B' : 'A'}${token.slice(at + 1)}`
      // The last character of a part has bits that mean nothing, so a change there may change no byte.
      if (changed === token || /[.]|^$/.test(token[at + 1] ?? '')) continue
      await expect(async () => tokens.verify(changed)).rejects.toMatchObject({ fault: 'unauthenticated' })
    }
  })

  test('are refused as unauthenticated whatever the text is', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(
          fc.string(),
          fc.array(fc.base64String(), { minLength: 3, maxLength: 3 }).map(parts => parts.join('.')),
        ),
        async text => {
          await expect(async () => tokens.verify(text)).rejects.toMatchObject({ fault: 'unauthenticated' })
        },
      ),
      { numRuns: 300 },
    )
  })
})
