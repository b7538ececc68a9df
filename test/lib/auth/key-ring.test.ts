import { generateKeyPairSync } from 'node:crypto'
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { hash } from 'node:crypto'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SignJWT } from 'jose'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { algorithms } from '#lib/auth/algorithms.ts'
import { createKeyFiles } from '#lib/auth/key-keepers/key-files.ts'
import { type KeyRing, openKeyRing } from '#lib/auth/key-ring.ts'
import { loadPrivateKey } from '#lib/auth/signing-key.ts'
import { createTokens, type Tokens } from '#lib/auth/tokens.ts'

const user = { uid: 'u1', email: 'a@example.test', username: 'a', roles: ['USER'], claims: ['LIST_VM'] }
const start = Date.UTC(2026, 5, 1)
const lifetime = 600

describe('the key ring', () => {
  let folder: string
  let ring: KeyRing
  let tokens: Tokens

  const open = async (algorithm: KeyRing['algorithm'] = 'RS256', replace?: () => Promise<void>): Promise<void> => {
    const keeper = createKeyFiles(folder)
    ring = await openKeyRing({
      keeper,
      algorithm,
      lifetime,
      privateKey: await loadPrivateKey(keeper),
      replace: async (_, putInPlace) => {
        await replace?.()
        await putInPlace()
      },
    })
    tokens = createTokens({ keys: ring, lifetime, sha256: text => hash('sha256', text) })
  }
  const filesOf = async (): Promise<readonly string[]> => (await readdir(folder, { recursive: true })).toSorted()

  beforeEach(async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: start })
    folder = await mkdtemp(join(tmpdir(), 'vmhost-keys-'))
  })
  afterEach(async () => {
    vi.useRealTimers()
    await rm(folder, { recursive: true })
  })

  test.for(algorithms)('%s signs tokens that it verifies after a restart', async algorithm => {
    await open(algorithm)
    const { token } = await tokens.issue(user)
    expect(JSON.parse(Buffer.from(token.split('.')[0]!, 'base64url').toString())).toMatchObject({ alg: algorithm })
    await open(algorithm)
    expect(await tokens.verify(token)).toMatchObject(user)
    for (const name of await filesOf()) expect((await stat(join(folder, name))).mode & 0o077).toBe(0)
  })

  test.for(algorithms)('a key ring for %s refuses tokens of every other algorithm', async algorithm => {
    for (const other of algorithms.filter(one => one !== algorithm)) {
      await open(other)
      const { token } = await tokens.issue(user)
      await open(algorithm)
      await expect(async () => tokens.verify(token)).rejects.toMatchObject({ fault: 'unauthenticated' })
    }
  })

  test('the public key is not accepted as a secret', async () => {
    await open('RS256')
    const [jwk] = await ring.publicKeys()
    const pem = ring.current().verification.export({ type: 'spki', format: 'pem' }).toString()
    for (const secret of [pem, pem.trim(), JSON.stringify(jwk)]) {
      const forged = await new SignJWT({ ...user, jti: 'x' })
        .setProtectedHeader({ alg: 'HS256', typ: 'JWT', kid: ring.current().id })
        .setIssuedAt(start / 1000)
        .setExpirationTime(start / 1000 + 60)
        .sign(new TextEncoder().encode(secret))
      await expect(async () => tokens.verify(forged)).rejects.toMatchObject({ fault: 'unauthenticated' })
      await open('HS256')
      await expect(async () => tokens.verify(forged)).rejects.toMatchObject({ fault: 'unauthenticated' })
      await open('RS256')
    }
  })

  test.for(['RS256', 'HS512'] as const)(
    'after a rotation of %s old tokens stay valid until they expire',
    async algorithm => {
      await open(algorithm)
      const old = await tokens.issue(user)
      const before = ring.current().id
      expect(await ring.rotate()).not.toBe(before)
      const fresh = await tokens.issue(user)
      const both = async (): Promise<void> => {
        expect(await tokens.verify(old.token)).toMatchObject(user)
        expect(await tokens.verify(fresh.token)).toMatchObject(user)
        expect(await ring.publicKeys()).toHaveLength(algorithm === 'RS256' ? 2 : 0)
      }
      await both()
      await open(algorithm)
      await both()
      vi.setSystemTime(start + lifetime * 1000 + 60_001)
      await open(algorithm)
      expect(ring.find(before)).toBeUndefined()
      expect((await filesOf()).filter(name => name.endsWith('.json'))).toEqual([])
      expect(await tokens.verify((await tokens.issue(user)).token)).toMatchObject(user)
    },
  )

  test('a token that is issued while the key is replaced stays valid until it expires', async () => {
    let token = ''
    await open('RS256', async () => {
      vi.setSystemTime(start + 5_000)
      token = (await tokens.issue(user)).token
    })
    await ring.rotate()
    vi.setSystemTime(start + 5_000 + lifetime * 1000 - 1)
    await open()
    expect(await tokens.verify(token)).toMatchObject(user)
    vi.setSystemTime(start + 5_000 + lifetime * 1000)
    await expect(async () => tokens.verify(token)).rejects.toThrow('expired')
  })

  test('a failed rotation leaves the old key, and the next rotation works', async () => {
    let broken = true
    await open('RS256', async () => {
      if (broken) throw new Error('the disk is full')
    })
    const before = await readFile(join(folder, 'signing.pem'), 'utf8')
    const { token } = await tokens.issue(user)
    await expect(ring.rotate()).rejects.toThrow('full')
    expect(await readFile(join(folder, 'signing.pem'), 'utf8')).toBe(before)
    expect(await tokens.verify((await tokens.issue(user)).token)).toMatchObject(user)
    broken = false
    await ring.rotate()
    expect(await tokens.verify(token)).toMatchObject(user)
    expect(await filesOf()).not.toContain('signing.next.pem')
  })

  test('two rotations at once make one new key', async () => {
    await open()
    const [first, second] = await Promise.all([ring.rotate(), ring.rotate()])
    expect(first).toBe(second)
  })

  test('a damaged secret stops the start and is not overwritten', async () => {
    await writeFile(join(folder, 'signing.secret'), 'short', { mode: 0o600 })
    await expect(open('HS256')).rejects.toMatchObject({ fault: 'unavailable' })
    expect(await readFile(join(folder, 'signing.secret'), 'utf8')).toBe('short')
  })

  test('a key of another kind, or a key that others can read, stops the start', async () => {
    const file = join(folder, 'signing.pem')
    const { privateKey } = generateKeyPairSync('ed25519')
    await writeFile(file, privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600 })
    await expect(open()).rejects.toThrow('ed25519')
    await rm(file)
    await loadPrivateKey(createKeyFiles(folder))
    await writeFile(file, await readFile(file))
    await (await import('node:fs/promises')).chmod(file, 0o644)
    await expect(open()).rejects.toThrow('chmod 600')
  })
})
