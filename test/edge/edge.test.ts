import { generateKeyPairSync, hash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { exportSPKI, importPKCS8, importSPKI } from 'jose'
import { Miniflare } from 'miniflare'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createTokens, type Tokens } from '#lib/auth/tokens.ts'

const digest = (text: string): string => hash('sha256', text)
const pair = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
})
const { compatibility_date: compatibilityDate } = Object.fromEntries(
  [...readFileSync('wrangler.toml', 'utf8').matchAll(/^(\w+) = "(.*)"$/gm)].map(match => [match[1], match[2]]),
) as { compatibility_date: string }

describe('the edge bundle in workerd', () => {
  let worker: Miniflare
  let tokens: Tokens
  const ask = async (path: string, init: { method?: string; body?: string; headers?: Record<string, string> } = {}) => {
    const response = await worker.dispatchFetch(`https://edge.example.test${path}`, init)
    return { status: response.status, body: (await response.json()) as Record<string, unknown> }
  }

  beforeAll(async () => {
    const verificationKey = await importSPKI(pair.publicKey, 'RS256', { extractable: true })
    const signing = await importPKCS8(pair.privateKey, 'RS256')
    tokens = createTokens({
      keys: {
        algorithm: 'RS256',
        current: () => ({ id: 'k1', signing }),
        find: () => ({ verification: verificationKey }),
      },
      lifetime: 60,
      digest,
    })
    worker = new Miniflare({
      modules: true,
      scriptPath: 'dist/edge.mjs',
      compatibilityDate,
      bindings: { VMHOST_PUBLIC_KEY: await exportSPKI(verificationKey) },
      // Otherwise it asks the internet for a sample of what the real edge adds to requests.
      cf: false,
    })
    await worker.ready
  })
  afterAll(() => worker.dispose())

  test('answers the probe and describes what it serves, and that alone', async () => {
    expect(await ask('/api/health/probe')).toEqual({ status: 200, body: { status: 'OK' } })
    const { body } = await ask('/api/openapi.json')
    expect(Object.keys(body['paths'] as object).sort()).toEqual([
      '/api/health/probe',
      '/api/openapi.json',
      '/api/v1/auth/token/validate',
    ])
    expect(await ask('/api/v1/machines')).toMatchObject({ status: 404, body: { code: 404 } })
  })

  test("verifies the host's tokens", async () => {
    const { token } = await tokens.issue({ uid: 'u', email: 'e', username: 'u', roles: [], claims: [] })
    const validate = (text: string) =>
      ask('/api/v1/auth/token/validate', { method: 'POST', body: JSON.stringify({ token: text }) })
    expect(await validate(token)).toEqual({ status: 200, body: { valid: true } })
    expect(await validate(`${token}x`)).toMatchObject({ status: 401, body: { code: 401, valid: false } })
    expect(await ask('/api/v1/auth/token/validate', { headers: { authorization: `Bearer ${token}` } })).toMatchObject({
      status: 200,
      body: { valid: true, code: 200 },
    })
  })
})
