import { readFileSync } from 'node:fs'
import { parse } from 'smol-toml'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { edgeSettings } from '#build/edge-settings.ts'
import { connectReader } from '../support/event-reader.ts'
import { outlastIdle } from '../support/silence.ts'
import { until } from '../support/waiting.ts'
import { type Edge, rootPassword, startEdge } from '../support/workerd/edge.ts'

describe('the edge', () => {
  let edge: Edge
  let token: string
  beforeAll(async () => {
    edge = await startEdge()
    token = await edge.signIn()
  })
  afterAll(() => edge[Symbol.asyncDispose]())

  let count = 0
  /** A new user. */
  const addUser = async (): Promise<{ readonly id: string; readonly username: string; readonly password: string }> => {
    const user = { username: `user-${(count += 1)}`, password: 'Somebodys-0wn-Password' }
    const body = { ...user, name: 'Some Body', email: `${user.username}@example.test` }
    const added = await edge.ask('POST', '/v1/auth/users', { token, body })
    expect(added.status).toBe(201)
    return { ...user, id: added.body.id }
  }

  test('keeps users, settings and the sign-outs of tokens over a kill', async () => {
    const { id, ...user } = await addUser()
    const [first, second] = [await edge.signIn(user), await edge.signIn(user)]
    const config = { slug: 'table', type: 'json', value: { columns: ['name'] } }
    expect(await edge.ask('POST', '/v1/user/configs', { token: first, body: config })).toMatchObject({ status: 201 })
    expect(await edge.ask('DELETE', '/v1/auth/token', { token: first })).toMatchObject({ status: 202 })
    await edge.restart()
    expect(await edge.ask('GET', '/v1/user/configs', { token: first })).toMatchObject({ status: 401 })
    expect(await edge.ask('GET', '/v1/user/configs', { token: second })).toMatchObject({
      status: 200,
      body: [{ slug: 'table', value: JSON.stringify(config.value) }],
    })
    const { body: entries } = await edge.ask('GET', '/v1/audit?limit=50', { token })
    expect(entries.entries.map((entry: { operation: string }) => entry.operation)).toEqual(
      expect.arrayContaining(['users/create', 'auth/sign-out', 'user-configs/create']),
    )
    expect(await edge.ask('DELETE', `/v1/auth/users/${id}`, { token })).toMatchObject({ status: 202 })
    expect(await edge.ask('GET', '/v1/user/configs', { token: second })).toMatchObject({ status: 401 })
  })

  test('serves the API reference with the files that it loads', async () => {
    const page = await fetch(`${edge.url}/docs/api`)
    expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
    const files = [...(await page.text()).matchAll(/"(\/assets\/[^"]+)"/g)].map(match => edge.url + match[1])
    const statuses = await Promise.all(files.map(async file => (await fetch(file)).status))
    expect(statuses).toEqual([200, 200])
  })

  test('changes a password, which ends the tokens of the old one', async () => {
    const { id, ...user } = await addUser()
    const before = await edge.signIn(user)
    const next = 'Somebodys-0ther-Password'
    const body = { password: user.password, new_password: next }
    expect(await edge.ask('PUT', '/v1/auth/password', { token: before, body })).toMatchObject({ status: 202 })
    expect(await edge.ask('GET', '/v1/user/configs', { token: before })).toMatchObject({ status: 401 })
    await edge.signIn({ ...user, password: next })
    await edge.ask('DELETE', `/v1/auth/users/${id}`, { token })
  })

  test('locks an account after wrong passwords, as the address says that the platform has seen', async () => {
    const { id, ...user } = await addUser()
    const headers = { 'cf-connecting-ip': '192.0.2.7' }
    const statuses: number[] = []
    for (let at = 0; at < 6; at += 1) {
      const body = { username: user.username, password: 'wrong' }
      statuses.push((await edge.ask('POST', '/v1/auth/token', { body, headers })).status)
    }
    expect(statuses).toEqual([401, 401, 401, 401, 401, 429])
    const { body } = await edge.ask('GET', '/v1/audit?limit=1', { token })
    expect(body.entries[0]).toMatchObject({ address: '192.0.2.7', status: 429 })
    await edge.ask('DELETE', `/v1/auth/users/${id}`, { token })
  })

  test('audits what its gateway has refused', async () => {
    const headers = { authorization: 'Bearer a.b.c', 'cf-connecting-ip': '192.0.2.8' }
    const reply = await fetch(`${edge.url}/api/v1/auth/users/nobody`, { method: 'DELETE', headers })
    expect(reply.status).toBe(401)
    await until(async () => {
      const { body } = await edge.ask('GET', '/v1/audit?operation=users/delete&outcome=refused', { token })
      expect(body.entries).toMatchObject([
        { request_id: reply.headers.get('x-request-id'), address: '192.0.2.8', target: { id: 'nobody' }, status: 401 },
      ])
    })
  })

  test('signs with a new key after a rotation, and accepts the tokens of the old one', async () => {
    expect(await edge.ask('POST', '/v1/auth/key/rotate', { token })).toMatchObject({ status: 200 })
    const later = await edge.signIn()
    for (const valid of [token, later])
      expect(await edge.ask('GET', '/v1/jobs', { token: valid })).toMatchObject({ status: 200 })
    const { keys } = (await (await fetch(`${edge.url}/.well-known/jwks.json`)).json()) as { keys: unknown[] }
    expect(keys).toHaveLength(2)
  })

  test('tells of events over WebSockets and as a stream, and continues at a cursor after a kill', async () => {
    const reader = await connectReader(`${edge.url}/api/v1/ws`, token, '?event_types=auth')
    const { id } = await addUser()
    const added = await reader.waitFor('USER_ADDED')
    const stream = await fetch(`${edge.url}/api/v1/events/stream?event_types=auth&since=${added.cursor}`, {
      headers: { authorization: `Bearer ${token}` },
    })
    await edge.ask('DELETE', `/v1/auth/users/${id}`, { token })
    const chunks = stream.body!.pipeThrough(new TextDecoderStream())
    let text = ''
    for await (const chunk of chunks) {
      text += chunk
      if (text.includes('USER_REMOVED')) break
    }
    expect(text).not.toContain('USER_ADDED')
    await edge.restart()
    const again = await connectReader(`${edge.url}/api/v1/ws`, token, `?event_types=auth&since=${added.cursor}`)
    await again.waitFor('USER_REMOVED')
    again.socket.close()
  })

  test('sleeps while nobody calls it, and WebSockets outlast that', async () => {
    const readMetrics = async (): Promise<string> =>
      (await fetch(`${edge.url}/metrics`, { headers: { authorization: `Bearer ${token}` } })).text()
    const countCommits = async (): Promise<number> =>
      Number(/^vmhost_store_commits (\d+)$/m.exec(await readMetrics())![1])
    const reader = await connectReader(`${edge.url}/api/v1/ws`, token, '?event_types=auth')
    for (let at = 0; at < 20; at += 1)
      await edge.ask('POST', '/v1/user/configs', { token, body: { slug: `sleep-${at}`, value: '' } })
    await until(async () => {
      const before = await countCommits()
      // workerd evicts an object after ten seconds without a call; a look is a call.
      await outlastIdle(11_000)
      // What was counted since the start was forgotten, because it was another start.
      expect(await countCommits()).toBeLessThan(Math.max(before, 20))
    })
    const { id } = await addUser()
    expect(await reader.waitFor('USER_ADDED')).toMatchObject({ body: { user_id: id } })
    reader.socket.close()
    await edge.ask('DELETE', `/v1/auth/users/${id}`, { token })
  })

  test('describes its endpoints, its health and its numbers', async () => {
    const { body: document } = await edge.ask('GET', '/openapi.json')
    expect(Object.keys(document.paths).length).toBeGreaterThan(80)
    expect(document.paths).toHaveProperty(['/api/v1/hosts'])
    expect(await edge.ask('GET', '/v1/health/system', { token })).toMatchObject({ body: { healthy: true } })
    const response = await fetch(`${edge.url}/metrics`, { headers: { authorization: `Bearer ${token}` } })
    expect(await response.text()).toContain('vmhost_store_writable 1')
  })

  test('uses an API key, and a filter, whose expressions are a part that is loaded on demand', async () => {
    const { body: key } = await edge.ask('POST', '/v1/auth/api_keys', { token, body: { name: 'farm' } })
    const headers = { 'x-api-key': key.encoded, 'x-filter': 'username=ro+t' }
    expect(await edge.ask('GET', '/v1/auth/users', { headers })).toMatchObject({
      status: 200,
      body: [{ username: 'root' }],
    })
  })

  test('has no local storage', async () => {
    const body = {
      catalog_id: 'demo',
      version: '1',
      architecture: 'x86_64',
      provider: { type: 'local-storage', meta: { catalog_path: '/tmp/packs' } },
    }
    const refused = await edge.ask('POST', '/v1/catalog', { token, body })
    expect(refused).toMatchObject({ status: 400 })
    expect(refused.body.message).toContain('aws-s3, minio, azure-storage-account, artifactory or oci')
  })

  test('reaches no private address', async () => {
    const manager = { name: 'inside', url: 'http://127.0.0.1:9/', username: 'x', password: 'y' }
    const refused = await edge.ask('POST', '/v1/catalog-managers', { token, body: manager })
    expect(refused).toMatchObject({ status: 400, body: { stack: [{ path: 'url' }] } })
    expect(refused.body.message).toContain('outgoing_addresses')
    const body = { connection: 'provider=minio;endpoint=127.0.0.1:9;bucket=packs;access_key=a;secret_key=b' }
    const failed = await edge.ask('POST', '/v1/catalog/garbage', { token, body })
    expect(failed).toMatchObject({ status: 502 })
  })

  test('wakes within the time that the platform allows', async () => {
    const items = Array.from({ length: 300 }, (_, at) => ({ slug: `s${at}`, type: 'string', value: 'x'.repeat(1_000) }))
    await Promise.all(items.map(body => edge.ask('POST', '/v1/user/configs', { token, body })))
    await edge.restart()
    const before = edge.processorTime()
    expect((await edge.ask('GET', '/v1/user/configs', { token })).body.length).toBeGreaterThanOrEqual(300)
    // The platform ends a request that takes 30 s of the processor.
    expect(edge.processorTime() - before).toBeLessThan(10_000)
  })
})

describe('the gateway', () => {
  test('refuses a bad token as the control does, without waking it', async () => {
    await using edge = await startEdge()
    const token = await edge.signIn()
    const [head, claims, signature] = token.split('.') as [string, string, string]
    const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')
    const forged = [
      `${head}.${claims}.${signature.slice(2)}AA`,
      `${head}.${encode({ ...JSON.parse(Buffer.from(claims, 'base64url').toString()), username: 'x' })}.${signature}`,
      `${encode({ alg: 'none', typ: 'JWT' })}.${claims}.`,
      `${encode({ alg: 'RS256', typ: 'JWT' })}.${claims}.${signature}`,
      'a.b.c',
      'x'.repeat(20_000),
    ]
    const count = async (): Promise<string> => {
      const metrics = await (
        await fetch(`${edge.url}/metrics`, { headers: { authorization: `Bearer ${token}` } })
      ).text()
      return metrics
        .split('\n')
        .filter(line => line.includes('users/list'))
        .join('\n')
    }
    await edge.ask('GET', '/v1/auth/users', { token })
    const before = await count()
    for (const bad of forged) {
      const { status, body, headers } = await edge.ask('GET', '/v1/auth/users', { token: bad })
      expect(status, bad.slice(0, 60)).toBe(401)
      expect(body).toMatchObject({ code: 401, error: 'unauthorized_client' })
      expect(headers.get('www-authenticate')).toBe('Bearer error="invalid_token"')
      expect(headers.get('strict-transport-security')).toBe('max-age=31536000')
    }
    expect(await count()).toBe(before)
    // A public endpoint does not look at tokens.
    expect(await edge.ask('GET', '/health/probe', { token: 'a.b.c' })).toMatchObject({ status: 200 })
  })
})

describe('the settings of the edge', () => {
  test.for([
    [{ VMHOST_PASSWORD_HASH: 'sha256' }, 'VMHOST_PASSWORD_HASH'],
    [{ VMHOST_DRIVER: 'qemu' }, 'VMHOST_DRIVER'],
    [{ VMHOST_TOKEN_LIFETIME: 'long' }, 'VMHOST_TOKEN_LIFETIME'],
    [{ VMHOST_ROOT_PASSWORD: '' }, 'VMHOST_ROOT_PASSWORD'],
  ] as const)('%o is refused', async ([variables]) => {
    await using edge = await startEdge({ variables })
    expect(await edge.ask('GET', '/health/probe')).toMatchObject({ status: 503 })
  })

  test('are those of wrangler.toml', () => {
    // What the platform reads.
    const file = parse(readFileSync('wrangler.toml', 'utf8')) as Record<string, never>
    expect(file).toMatchObject({
      name: edgeSettings.name,
      main: edgeSettings.script,
      no_bundle: true,
      find_additional_modules: true,
      compatibility_date: edgeSettings.compatibilityDate,
      compatibility_flags: edgeSettings.compatibilityFlags,
      durable_objects: {
        bindings: Object.entries(edgeSettings.durableObjects).map(([name, class_name]) => ({ name, class_name })),
      },
      migrations: [{ tag: 'v1', new_sqlite_classes: Object.values(edgeSettings.durableObjects) }],
      services: Object.entries(edgeSettings.entrypoints).map(([binding, entrypoint]) => ({
        binding,
        service: edgeSettings.name,
        entrypoint,
      })),
    })
    expect(readFileSync('wrangler.toml', 'utf8')).not.toContain(rootPassword)
  })
})
