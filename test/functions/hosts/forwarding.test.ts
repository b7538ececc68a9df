import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { openAudit } from '#lib/audit/audit.ts'
import { createHttpAudit } from '#lib/audit/http-audit.ts'
import { createTrustedIssuers } from '#lib/auth/assertions/trusted-issuers.ts'
import { createSignAssertion } from '#lib/auth/assertions/sign-assertion.ts'
import { exportPublicJwk } from '#lib/auth/token-key.ts'
import { every } from '#lib/async/every.ts'
import { parseFilter } from '#lib/calls/list-filter.ts'
import { PreparedBody } from '#lib/calls/prepared-body.ts'
import { hostRoutes } from '#lib/compose/hosts/host-routes.ts'
import type { Services } from '#lib/compose/services.ts'
import { ServiceError } from '#lib/errors.ts'
import { type App, createApp } from '#lib/http/app.ts'
import { recordTemplate } from '#lib/machines/record-template.ts'
import { createMemoryStore } from '#lib/storage/memory-store.ts'
import { openEvents } from '#lib/events/events.ts'
import { openJobs } from '#lib/jobs/jobs.ts'
import { openIdempotency } from '#lib/idempotency/idempotency.ts'
import type { AuditRecord } from '#lib/audit/schemas.ts'
import { controlIssuer, openControl, type Control } from '../../support/hosts/control.ts'
import { type ControlClient, openClient } from '../../support/hosts/control-client.ts'
import { identityKeys } from '../../support/identity.ts'
import { until } from '../../support/waiting.ts'

const report = {
  version: '0.1.0',
  driver: 'embedded',
  architecture: 'x86_64',
  capacity: { cpus: 4, memory: 8_000, free_memory: 4_000 },
}

/** A host as the control sees it: the endpoints of a host over machines that only have a name. */
interface FakeHost {
  readonly app: App
  readonly machines: Map<string, string>
  /** The names of its images. */
  readonly images: string[]
  /** The number of ready machines of each pool. */
  readonly pools: Map<string, number>
  /** What was asked of its machines, and by whom. */
  readonly done: string[]
  audit(): Promise<readonly AuditRecord[]>
}

const toImage = (name: string) => ({
  id: '00000000-0000-4000-8000-0000000000cc',
  name,
  kind: 'disk',
  description: '',
  format: 'raw',
  sha256: '1'.repeat(64),
  digest: '2'.repeat(64),
  virtual_size: 512,
  size: 512,
  created_at: '2026-01-01T00:00:00.000Z',
  created_by: 'somebody',
})

const toPool = ([name, ready]: readonly [string, number]) => ({
  id: '00000000-0000-4000-8000-0000000000dd',
  name,
  from: { image: 'debian' },
  template: {},
  min: 1,
  max: 4,
  idle_ttl: 60,
  created_at: '2026-01-01T00:00:00.000Z',
  created_by: 'somebody',
  waiting: 0,
  members: Array.from({ length: ready }, (_, at) => ({
    id: `${at}`,
    name: `${at}`,
    state: 'ready' as const,
    since: '',
  })),
})

const createHost = async (audience: string): Promise<FakeHost> => {
  const store = await createMemoryStore()
  const events = await openEvents(store, { every })
  const audit = openAudit({ store, every, log: { error: () => {} }, retention: { days: 400, entries: 10_000 } })
  const jobs = await openJobs({ store, publish: events.publish, every, onEnded: () => {}, onDefect: () => {} })
  const machines = new Map<string, string>()
  const images: string[] = []
  const pools = new Map<string, number>()
  const done: string[] = []
  const find = (reference: string): [string, string] => {
    const found = [...machines].find(([id, name]) => id === reference || name === reference)
    if (!found) throw new ServiceError('not-found', `There is no machine with the id or name ${reference}.`)
    return found
  }
  const toRecord = ([id, name]: [string, string]) => ({ ...recordTemplate, ID: id, Name: name, State: 'stopped' })
  const services = {
    machines: {
      list: () => new PreparedBody(JSON.stringify([...machines].map(toRecord)), '"1"'),
      show: (reference: string) => toRecord(find(reference)),
      showStatus: (reference: string) => ({ id: find(reference)[0], status: 'stopped', ip_configured: '-' }),
      async run(reference: string, verb: string) {
        done.push(`${verb} ${reference}`)
        if (verb === 'suspend')
          throw new ServiceError('conflict', 'The machine is stopped.', { extra: { operations: [] } })
        return { id: find(reference)[0], operation: 'Start', status: 'Success' }
      },
      async create({ name }: { name: string }) {
        const id = crypto.randomUUID()
        machines.set(id, name)
        done.push(`create ${name}`)
        return { id, name, owner: 'farm', current_state: 'stopped' }
      },
    },
    images: {
      list: async () => images.map(toImage),
      async show(reference: string) {
        if (images.includes(reference)) return toImage(reference)
        throw new ServiceError('not-found', `There is no image with the name, id or digest ${reference}.`)
      },
      async remove(reference: string) {
        done.push(`remove ${reference}`)
        return toImage(reference)
      },
      async create(_caller: unknown, { name }: { name: string }) {
        done.push(`pull ${name}`)
        return toImage(name)
      },
      async upload(_caller: unknown, name: string, range: string, bytes: Uint8Array) {
        done.push(`upload ${name} ${range}: ${Buffer.from(bytes).toString()}`)
        return { name, offset: bytes.length }
      },
    },
    pools: {
      list: () => [...pools].map(toPool),
      show: (name: string) => toPool([name, pools.get(name) ?? 0]),
      async create(_caller: unknown, { name }: { name: string }) {
        done.push(`define ${name}`)
        pools.set(name, 0)
        return toPool([name, 0])
      },
      async remove(name: string, members: string) {
        done.push(`delete ${name} and ${members}`)
        return toPool([name, 0])
      },
      async claim({ username }: { username: string }, pool: string, _: unknown, { key }: { key: string | null }) {
        done.push(`claim ${pool} ${key}`)
        return { id: '1', name: 'm', owner: username, pool, current_state: 'running', ip_configured: '-', labels: {} }
      },
    },
    license: {
      read: async () => ({
        ...Object.fromEntries(
          [
            'advanced_restrictions',
            'deferred_activation',
            'edition',
            'expiration',
            'grace_period_ends_at',
            'is_volume',
            'main_period_ends_at',
            'serial',
            'status',
          ].map(name => [name, '']),
        ),
        cpu_total: 1,
        max_memory: 1,
        uuid: audience,
      }),
    },
    catalogCache: { list: async () => [], remove: async () => 2 },
    ssh: { execute: async ({ host }: { host: string }) => ({ output: host, error: '' }) },
    jobs,
  }
  const trusted = createTrustedIssuers({
    issuers: [
      {
        issuer: controlIssuer,
        audience,
        algorithm: 'RS256',
        jwks: { keys: [{ ...(await exportPublicJwk('RS256', identityKeys.current())), kty: 'RSA' }] },
      },
    ],
    fetchJson: async () => undefined,
    nonce: crypto.randomUUID(),
    isLocalUser: () => false,
  })
  const provided = new Set(Object.keys(services))
  const app = createApp({
    routes: hostRoutes.filter(({ endpoint }) => endpoint.uses.every(name => provided.has(name))),
    // Only what the tests call is there.
    services: services as unknown as Services,
    authenticate: credential => trusted.principal(credential),
    parseFilter,
    onOutcome: () => {},
    audit: createHttpAudit(audit),
    startJob: jobs.start,
    runIdempotent: openIdempotency(store, { pepper: new Uint8Array(32), every }).run,
    checkReplies: true,
  })
  return {
    app,
    machines,
    images,
    pools,
    done,
    audit: async () => (await audit.readPage({ limit: 100, after: 0 })).entries,
  }
}

let control: Control
let client: ControlClient
const hosts = new Map<string, FakeHost>()
const down = new Set<string>()
/** Asks that never end. */
const hanging = new Set<string>()
const asked: string[] = []

const network = async (url: string, init: RequestInit): Promise<Response> => {
  const name = new URL(url).hostname.split('.')[0]!
  asked.push(name)
  if (hanging.has(name))
    await new Promise((_, reject) => init.signal!.addEventListener('abort', () => reject(init.signal!.reason)))
  if (down.has(name)) throw new TypeError('fetch failed')
  return hosts.get(name)!.app.fetch(new Request(url, init), { address: '192.0.2.9' })
}

const ids = new Map<string, string>()
const keys = new Map<string, string>()
const beat = async (name: string, more: object = {}): Promise<void> => {
  const machines = [...hosts.get(name)!.machines].map(([ID, Name]) => ({
    ...recordTemplate,
    ID,
    Name,
    State: 'running',
  }))
  const { status } = await client.ask('PUT', `/hosts/${ids.get(name)}/heartbeat`, {
    headers: { 'x-host-key': keys.get(name)! },
    body: {
      ...report,
      ...more,
      machines: { tag: crypto.randomUUID(), ids: machines.map(({ ID }) => ID), changed: machines },
    },
  })
  expect(status).toBe(200)
}
const addHost = async (name: string, labels: object = {}, more: object = {}): Promise<FakeHost> => {
  const { body } = await client.asRoot('POST', '/hosts', { name, url: `https://${name}.example.test`, labels })
  ids.set(name, body.id)
  keys.set(name, body.key)
  const host = await createHost(body.id)
  hosts.set(name, host)
  await beat(name, more)
  return host
}

beforeEach(async () => {
  for (const state of [hosts, down, hanging]) state.clear()
  asked.length = 0
  control = await openControl({ fetch: network })
  client = await openClient(control.app)
})
afterEach(async () => {
  vi.useRealTimers()
  await control[Symbol.asyncDispose]()
})

const id = (digit: number): string => `00000000-0000-4000-8000-00000000000${digit}`

describe('a request that needs a host', () => {
  test('reaches the host of its machine, by id and by name, and shows there who asked', async () => {
    const [a, b] = [await addHost('a'), await addHost('b')]
    a.machines.set(id(1), 'one')
    b.machines.set(id(2), 'two')
    await beat('a')
    await beat('b')
    const token = await client.signInWith('alice', ['UPDATE_VM_STATES'])
    expect(await client.ask('PUT', '/machines/two/start', { token })).toMatchObject({
      status: 200,
      body: { id: id(2), operation: 'Start', status: 'Success' },
    })
    expect((await client.ask('PUT', `/machines/${id(1)}/start`, { token })).status).toBe(200)
    expect([a.done, b.done]).toEqual([[`start ${id(1)}`], ['start two']])
    const { body: user } = await client.asRoot('GET', '/auth/users/alice')
    expect(await b.audit()).toMatchObject([
      // The first change after the start of the host, of which the control does not know the run yet.
      { operation: 'machines/start', status: 401, message: expect.stringContaining('another run') },
      { operation: 'machines/start', username: 'alice', user_id: user.id, issuer: controlIssuer, status: 200 },
    ])
    const { body } = await client.asRoot('GET', '/audit?operation=machines/start')
    expect(body.entries).toHaveLength(2)
    expect(body.entries[0]).toMatchObject({ username: 'alice', user_id: user.id })
  })

  test('is refused here without the right for it, and no host hears of it', async () => {
    await addHost('a')
    const token = await client.signInWith('bob', ['LIST_VM'])
    asked.length = 0
    expect((await client.ask('PUT', '/machines/one/start', { token })).status).toBe(403)
    expect((await client.ask('PUT', '/machines/one/start')).status).toBe(401)
    expect((await client.asRoot('POST', '/machines', { nonsense: 1 })).status).toBe(400)
    expect(asked).toEqual([])
  })

  test('finds a machine that is newer than the last heartbeat', async () => {
    const [, b] = [await addHost('a'), await addHost('b')]
    b.machines.set(id(2), 'two')
    expect((await client.asRoot('GET', '/machines/two/status')).body).toMatchObject({ id: id(2) })
    expect(await client.asRoot('GET', '/machines/three/status')).toMatchObject({ status: 404 })
  })

  test('shows a machine with the host as it is known here', async () => {
    const a = await addHost('a')
    a.machines.set(id(1), 'one')
    expect((await client.asRoot('GET', '/machines/one')).body).toMatchObject([
      { ID: id(1), host: 'a', host_id: ids.get('a'), host_url: 'https://a.example.test' },
    ])
  })

  test('needs the name of the host when two have such a machine', async () => {
    const [a, b] = [await addHost('a'), await addHost('b')]
    a.machines.set(id(1), 'same')
    b.machines.set(id(2), 'same')
    await beat('a')
    await beat('b')
    const answer = await client.asRoot('GET', '/machines/same/status')
    expect(answer).toMatchObject({ status: 409, body: { message: expect.stringContaining('a and b') } })
    expect((await client.asRoot('GET', '/machines/same/status?host=b')).body.id).toBe(id(2))
    expect((await client.asRoot('GET', '/machines/same/status?host=nobody')).status).toBe(404)
  })

  test('gets the refusal of the host, with its other members', async () => {
    const a = await addHost('a')
    a.machines.set(id(1), 'one')
    expect(await client.asRoot('PUT', '/machines/one/suspend')).toMatchObject({
      status: 409,
      body: { code: 409, message: 'The machine is stopped.', operations: [] },
    })
  })

  test('to a host that does not trust this service is a failure of the host, not of the credentials', async () => {
    const a = await addHost('a')
    a.machines.set(id(1), 'one')
    await beat('a')
    hosts.set('a', { ...a, app: (await createHost('another audience')).app })
    const answer = await client.asRoot('GET', '/machines/one/status')
    expect(answer).toMatchObject({ status: 502, body: { message: expect.stringContaining('trusted_issuers') } })
  })

  test('to a host that is down gets a 503 that names it', async () => {
    const a = await addHost('a')
    a.machines.set(id(1), 'one')
    await beat('a')
    down.add('a')
    const answer = await client.asRoot('PUT', '/machines/one/start')
    expect(answer).toMatchObject({ status: 503, body: { message: expect.stringContaining('host a does not answer') } })
  })

  test('changes a machine before and after its host has started again', async () => {
    const before = await addHost('a')
    before.machines.set(id(1), 'one')
    await beat('a')
    const started: FakeHost = { ...(await createHost(ids.get('a')!)) }
    started.machines.set(id(1), 'one')
    for (const host of [before, started]) {
      hosts.set('a', host)
      for (const _ of [1, 2]) expect((await client.asRoot('PUT', '/machines/one/start')).status).toBe(200)
      expect(host.done).toEqual(['start one', 'start one'])
      expect((await host.audit()).map(({ status }) => status)).toEqual([401, 200, 200])
    }
  })

  test('is refused here for a user with more rights than the host accepts', async () => {
    await addHost('a')
    const claims = Array.from({ length: 90 }, (_, at) => `A_CLAIM_WITH_A_LONG_NAME_${at}`.padEnd(120, '_'))
    await Promise.all(claims.map(name => client.asRoot('POST', '/auth/claims', { name })))
    const token = await client.signInWith('erin', ['LIST_VM', ...claims])
    asked.length = 0
    const answer = await client.ask('GET', '/machines/one/status?host=a', { token })
    expect(answer).toMatchObject({ status: 409, body: { message: expect.stringContaining('The rights of erin') } })
    expect(asked).toEqual([])
  })

  test('runs as a job here, which follows the job of the host', async () => {
    const a = await addHost('a')
    a.machines.set(id(1), 'one')
    const token = await client.signInWith('carol', ['UPDATE_VM_STATES'])
    const started = await client.ask('PUT', '/machines/one/start', { token, headers: { prefer: 'respond-async' } })
    expect(started.status).toBe(202)
    const job = await until(async () => {
      const { body } = await client.asRoot('GET', `/jobs/${started.body.id}`)
      expect(body.state).toBe('completed')
      return body
    })
    expect(job).toMatchObject({ owner_name: 'carol', result: { id: id(1), operation: 'Start' } })
    expect(a.done).toEqual(['start one'])
  })

  test('that the host fails as a job fails here for the same reason', async () => {
    const a = await addHost('a')
    a.machines.set(id(1), 'one')
    const started = await client.asRoot('PUT', '/machines/one/suspend', undefined, { prefer: 'respond-async' })
    await until(async () =>
      expect((await client.asRoot('GET', `/jobs/${started.body.id}`)).body).toMatchObject({
        state: 'failed',
        code: 409,
        error: 'The machine is stopped.',
      }),
    )
  })

  test('is signed with its body, and the host refuses another one', async () => {
    const a = await addHost('a')
    const sign = createSignAssertion({ keys: identityKeys, issuer: controlIssuer })
    const root = (await client.asRoot('GET', '/auth/users/root')).body
    const user = { ...root, roles: ['SUPER_USER'], claims: new Set<string>(), superUser: true }
    const body = JSON.stringify({ name: 'new', memory: 16 })
    let nonce: string | undefined
    const send = async (sent: string): Promise<Response> =>
      a.app.fetch(
        new Request('https://a.example.test/api/v1/machines', {
          method: 'POST',
          headers: { authorization: `Bearer ${await sign(user, ids.get('a')!, { body, nonce })}` },
          body: sent,
        }),
        { address: '192.0.2.9' },
      )
    // The first request learns for which run of the host it has to be.
    nonce = (await send(body)).headers.get('assertion-nonce')!
    const refused = await send(body.replace('new', 'old'))
    expect(refused.status).toBe(401)
    expect(await refused.json()).toMatchObject({ message: expect.stringContaining('another body') })
    expect(a.done).toEqual([])
    expect((await send(body)).status).toBe(201)
    expect(a.done).toEqual(['create new'])
  })

  test('with an Idempotency-Key is done once', async () => {
    const a = await addHost('a')
    const headers = { 'idempotency-key': 'once' }
    const [one, two] = [
      await client.asRoot('POST', '/machines', { name: 'new', memory: 16 }, headers),
      await client.asRoot('POST', '/machines', { name: 'new', memory: 16 }, headers),
    ]
    expect(one).toMatchObject({ status: 201 })
    expect(two.body).toEqual(one.body)
    expect(a.done).toEqual(['create new'])
  })

  test('keeps a member host of its own body', async () => {
    await addHost('a')
    const body = { host: 'far.example.test', username: 'me', password: 'secret', command: 'true' }
    expect((await client.asRoot('POST', '/ssh/execute', body)).body).toMatchObject({ output: 'far.example.test' })
  })
})

describe('a new machine', () => {
  const create = (body: object = {}, query = '') =>
    client.asRoot('POST', `/machines${query}`, { name: 'new', memory: 16, ...body })

  test('comes to the host with the most free memory', async () => {
    await addHost('a', {}, { capacity: { cpus: 1, memory: 9_000, free_memory: 10 } })
    const b = await addHost('b', {}, { capacity: { cpus: 1, memory: 9_000, free_memory: 20 } })
    expect((await create()).status).toBe(201)
    expect(b.done).toEqual(['create new'])
  })

  test('comes to the host that the query or the body names', async () => {
    const [a] = [await addHost('a'), await addHost('b')]
    expect((await create({}, '?host=a')).status).toBe(201)
    expect((await create({ host: ids.get('a') })).status).toBe(201)
    expect(a.done).toHaveLength(2)
  })

  test('comes to no host that is drained, or has other labels', async () => {
    const a = await addHost('a', { zone: 'a', disk: 'ssd' })
    await addHost('b', { zone: 'b' })
    expect((await create({}, '?host_labels=zone=a,disk=ssd')).status).toBe(201)
    expect(a.done).toHaveLength(1)
    expect(await create({}, '?host_labels=zone=c')).toMatchObject({ status: 503 })
    expect(await create({}, '?host_labels=zone')).toMatchObject({ status: 400 })
    await client.asRoot('PUT', '/hosts/a/drain')
    const refused = await create({}, '?host_labels=zone=a')
    expect(refused).toMatchObject({ status: 503, body: { message: expect.stringContaining('none has these labels') } })
    expect((await create()).status).toBe(201)
    expect(a.done).toHaveLength(1)
  })

  test('needs a host', async () => {
    expect(await create()).toMatchObject({
      status: 503,
      body: { message: expect.stringContaining('POST /api/v1/hosts') },
    })
  })
})

describe('all hosts', () => {
  const list = async (query = '', headers = {}) => client.asRoot('GET', `/machines${query}`, undefined, headers)
  const names = (body: readonly { Name: string }[]): string[] => body.map(({ Name }) => Name)

  test('are one list of machines, in its order, with its filter and its tag', async () => {
    const [a, b] = [await addHost('a'), await addHost('b')]
    a.machines.set(id(1), 'one').set(id(3), 'three')
    b.machines.set(id(2), 'two')
    const all = await list()
    expect(names(all.body)).toEqual(['one', 'three', 'two'])
    expect(all.body.map(({ host }: { host: string }) => host)).toEqual(['a', 'a', 'b'])
    expect(names((await list('', { 'x-filter': 'Name=^t' })).body)).toEqual(['three', 'two'])
    expect(names((await list('?host=b')).body)).toEqual(['two'])
    expect((await list('', { 'if-none-match': all.headers.get('etag')! })).status).toBe(304)
  })

  test('are selected and cut into pages as one list', async () => {
    const [a, b] = [await addHost('a'), await addHost('b')]
    a.machines.set(id(1), 'one').set(id(3), 'three')
    b.machines.set(id(2), 'two')
    const seen: string[] = []
    let path: string | undefined = '?limit=2&fields=Name,host'
    while (path !== undefined) {
      const { body, headers } = await list(path)
      seen.push(...body.map((record: object) => Object.values(record).join(' ')))
      path = /^<[^?]*([^>]*)>/.exec(headers.get('link') ?? '')?.[1]
    }
    expect(seen).toEqual(['one a', 'three a', 'two b'])
    const { headers } = await list('?host=a&limit=1')
    expect(headers.get('link')).toContain('host=a')
    expect((await list('?labels=team%3Dci')).body).toEqual([])
    expect((await list('?labels=!team&host=b')).body).toHaveLength(1)
  })

  test('that do not answer are shown as they were, with the problem, and are not asked again', async () => {
    const [a, b] = [await addHost('a'), await addHost('b')]
    a.machines.set(id(1), 'one')
    b.machines.set(id(2), 'two')
    await beat('a')
    await beat('b')
    down.add('b')
    const { body } = await list()
    expect(body).toMatchObject([
      { Name: 'one', host: 'a' },
      { Name: 'two', host: 'b', host_state: 'unreachable', problem: 'host b does not answer' },
    ])
    asked.length = 0
    await list()
    expect(asked).toEqual(['a'])
    down.clear()
    await beat('b')
    expect((await list()).body[1].problem).toBeUndefined()
  })

  test('that are silent for long are not asked, and say since when', async () => {
    const a = await addHost('a')
    a.machines.set(id(1), 'one')
    await beat('a')
    const heard = Date.now()
    vi.useFakeTimers({ toFake: ['Date'], now: heard + 46_000 })
    asked.length = 0
    expect((await list()).body[0].problem).toMatch(/^host a unreachable since \d{4}-.*Z$/)
    expect(await client.asRoot('GET', '/machines/one/status')).toMatchObject({
      status: 503,
      body: { message: expect.stringContaining('host a unreachable since') },
    })
    expect(asked).toEqual([])
  })

  test('wait at most two seconds for one that hangs', async () => {
    const [a, b] = [await addHost('a'), await addHost('b')]
    a.machines.set(id(1), 'one')
    b.machines.set(id(2), 'two')
    await beat('b')
    hanging.add('b')
    expect((await list()).body).toMatchObject([{ Name: 'one' }, { Name: 'two', problem: 'host b does not answer' }])
  })

  test('give their licenses and their caches', async () => {
    await addHost('a')
    await addHost('b')
    down.add('b')
    const license = '/hypervisor_desktop/key'
    expect((await client.asRoot('GET', license)).body).toMatchObject([
      { host: 'a', uuid: ids.get('a') },
      { host: 'b', problem: expect.stringContaining('host b does not answer') },
    ])
    expect((await client.asRoot('GET', `${license}?host=a`)).body.uuid).toBe(ids.get('a'))
    expect((await client.asRoot('GET', '/catalog/cache')).body).toEqual([])
    const cleared = await client.asRoot('DELETE', '/catalog/cache')
    expect(cleared).toMatchObject({ status: 202, body: { message: expect.stringMatching(/^a: 2 items .* b: /) } })
    expect((await client.asRoot('DELETE', '/catalog/cache/web/1')).status).toBe(202)
    expect((await client.asRoot('DELETE', '/catalog/cache?host=b')).status).toBe(503)
  })
})

describe('pools of hosts', () => {
  test('are one list, and a request goes to the host of its pool', async () => {
    const [a, b] = [await addHost('a'), await addHost('b')]
    a.pools.set('ci', 1).set('same', 0)
    b.pools.set('deploy', 1).set('same', 2)
    const { body } = await client.asRoot('GET', '/pools')
    expect(body.map(({ name, host }: { name: string; host: string }) => `${name} on ${host}`)).toEqual([
      'ci on a',
      'deploy on b',
      'same on a',
      'same on b',
    ])
    expect((await client.asRoot('GET', '/pools/deploy')).body).toMatchObject({ name: 'deploy' })
    const several = await client.asRoot('DELETE', '/pools/same')
    expect([several.status, several.body.message]).toEqual([409, expect.stringMatching(/hosts a and b .* \?host=NAME/)])
    expect((await client.asRoot('DELETE', '/pools/same?host=a&members=keep')).status).toBe(202)
    const key = { 'idempotency-key': 'build-7' }
    expect((await client.asRoot('POST', '/pools/CI/claim', {}, key)).status).toBe(201)
    // The one with more ready machines.
    expect((await client.asRoot('POST', '/pools/same/claim', {})).status).toBe(201)
    expect([a.done, b.done]).toEqual([['delete same and keep', 'claim CI build-7'], ['claim same null']])
    down.add('b')
    const none = await client.asRoot('POST', '/pools/none/claim', {})
    expect([none.status, none.body.message]).toEqual([404, expect.stringMatching(/no pool .* none\. It may be on b/)])
  })

  test('are made on the host of their machine, or on one that has their images', async () => {
    const [a, b] = [
      await addHost('a', {}, { capacity: { ...report.capacity, free_memory: 8_000 } }),
      await addHost('b'),
    ]
    b.machines.set(crypto.randomUUID(), 'base')
    b.images.push('debian')
    const pool = { min: 1, max: 2 }
    expect((await client.asRoot('POST', '/pools', { ...pool, name: 'one', from: { machine: 'base' } })).status).toBe(
      201,
    )
    const ofImage = { ...pool, name: 'two', from: { image: 'debian' }, template: { memory: 16 } }
    expect((await client.asRoot('POST', '/pools', ofImage)).status).toBe(201)
    expect([a.done, b.done]).toEqual([[], ['define one', 'define two']])
    expect((await client.asRoot('POST', '/pools', { ...ofImage, name: 'three', from: { image: 'none' } })).status).toBe(
      404,
    )
  })
})

describe('images of hosts', () => {
  test('are one list, and each names its host', async () => {
    const [a, b] = [await addHost('a'), await addHost('b')]
    a.images.push('ubuntu', 'same')
    b.images.push('debian', 'same')
    const { body } = await client.asRoot('GET', '/images')
    expect(body.map(({ name, host }: { name: string; host: string }) => `${name} on ${host}`)).toEqual([
      'debian on b',
      'same on a',
      'same on b',
      'ubuntu on a',
    ])
    expect((await client.asRoot('GET', '/images?host=b')).body).toHaveLength(2)
    expect((await client.asRoot('GET', '/images/debian')).body).toMatchObject({ name: 'debian', host: 'b' })
    expect((await client.asRoot('GET', '/images/none')).status).toBe(404)
    const several = await client.asRoot('DELETE', '/images/same')
    expect([several.status, several.body.message]).toEqual([409, expect.stringMatching(/hosts a and b .* \?host=NAME/)])
    expect((await client.asRoot('DELETE', '/images/same?host=b')).status).toBe(202)
    expect([a.done, b.done]).toEqual([[], ['remove same']])
  })

  test('decide where a machine of one is made', async () => {
    const [a, b] = [
      await addHost('a', {}, { capacity: { ...report.capacity, free_memory: 8_000 } }),
      await addHost('b'),
    ]
    b.images.push('debian')
    const machine = { name: 'm', memory: 16, image: 'Debian' }
    expect((await client.asRoot('POST', '/machines', machine)).status).toBe(201)
    const disks = [{ size: 1 }, { image: 'debian' }]
    expect((await client.asRoot('POST', '/machines', { name: 'n', memory: 16, disks })).status).toBe(201)
    expect([a.done, b.done]).toEqual([[], ['create m', 'create n']])
    const none = await client.asRoot('POST', '/machines', { ...machine, image: 'none' })
    expect([none.status, none.body.message]).toEqual([404, expect.stringMatching(/no image with the name.* none/)])
    down.add('a')
    const silent = await client.asRoot('POST', '/machines', { ...machine, image: 'none' })
    expect(silent.body.message).toMatch(/It may be on a, which cannot be asked now/)
  })

  test('are uploaded to the host that is named, byte by byte', async () => {
    const [a, b] = [await addHost('a'), await addHost('b')]
    const headers = { 'content-range': 'bytes 0-2/3', 'content-type': 'application/octet-stream' }
    const unnamed = await client.asRoot('PUT', '/images/x/upload', 'a\u0000c', headers)
    expect([unnamed.status, unnamed.body.message]).toEqual([400, expect.stringMatching(/Name the host/)])
    expect((await client.asRoot('PUT', '/images/x/upload?host=b', 'a\u0000c', headers)).body.offset).toBe(3)
    const finish = { name: 'x', upload: true, sha256: '1'.repeat(64) }
    expect((await client.asRoot('POST', '/images', finish)).status).toBe(400)
    expect((await client.asRoot('POST', '/images', { ...finish, host: 'b' })).status).toBe(201)
    expect([a.done, b.done]).toEqual([[], ['upload x bytes 0-2/3: a\u0000c', 'pull x']])
  })
})
