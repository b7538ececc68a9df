import { randomUUID } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { ServiceError } from '#lib/errors.ts'
import type { MachineView } from '#lib/hypervisor/driver.ts'
import { createStoppedView } from '#lib/hypervisor/machine-views.ts'
import type { SnapshotDriver } from '#lib/hypervisor/snapshot.ts'
import { type Answer, type Call, test } from '../../support/harness.ts'
import { until } from '../../support/waiting.ts'

const other = ['other', 'UPDATE_VM_STATES', 'LIST_VM']

const makeSource = async (call: Call): Promise<string> =>
  (await call('POST', '/api/v1/machines', { body: { name: 'base', memory: 16, disks: [{ size: 1 }] } })).body.id

const define = (call: Call, body: object = {}): Promise<Answer> =>
  call('POST', '/api/v1/pools', { body: { name: 'ci', from: { machine: 'base' }, min: 2, max: 4, ...body } })

interface Member {
  readonly id: string
  readonly state: string
}
const claimOf = (call: Call, ask: object = {}, query = ''): Promise<Answer> =>
  call('POST', `/api/v1/pools/ci/claim${query}`, { as: other, ...ask })
const membersOf = async (call: Call, name = 'ci'): Promise<readonly Member[]> =>
  (await call('GET', `/api/v1/pools/${name}`)).body.members
const statesOf = async (call: Call): Promise<readonly string[]> =>
  (await membersOf(call)).map(({ state }) => state).toSorted()
const comesTo = (call: Call, ...states: readonly string[]): Promise<void> =>
  until(async () => expect(await statesOf(call)).toEqual(states.toSorted()))
const machinesOf = async (call: Call): Promise<readonly string[]> =>
  ((await call('GET', '/api/v1/machines')).body as { Name: string }[]).map(({ Name }) => Name).toSorted()

test('a pool keeps its minimum ready, and a claimed machine belongs to who has claimed it', async ({ call }) => {
  await makeSource(call)
  const { status, body } = await define(call, { template: { labels: { team: 'build' } } })
  expect(status).toBe(201)
  expect(body).toMatchObject({ name: 'ci', min: 2, max: 4, idle_ttl: 86_400, waiting: 0 })
  await comesTo(call, 'ready', 'ready')
  const claim = await call('POST', '/api/v1/pools/CI/claim', { as: other, body: { labels: { job: '7' }, ttl: 60 } })
  expect(claim.status).toBe(201)
  expect(claim.body).toMatchObject({
    pool: 'ci',
    current_state: 'running',
    labels: { team: 'build', job: '7' },
    owner: 'tester',
  })
  const [record] = (await call('GET', `/api/v1/machines/${claim.body.id}`)).body
  expect(record).toMatchObject({
    State: 'running',
    owner: '00000000-0000-4000-8000-0000000000bb',
    expires_at: claim.body.expires_at,
  })
  await comesTo(call, 'claimed', 'ready', 'ready')
  expect((await call('DELETE', `/api/v1/machines/${claim.body.id}?force=true`)).status).toBe(202)
  await comesTo(call, 'ready', 'ready')
})

describe('a claim', () => {
  test('waits in line for a machine, in the order of the calls', async ({ call, driver }) => {
    await makeSource(call)
    driver.delay = 20
    await define(call, { min: 0, max: 1 })
    const order: string[] = []
    const claims = ['first', 'second'].map(async name => {
      const { status, body } = await claimOf(call, { body: { labels: { name } } })
      expect(status).toBe(201)
      order.push(name)
      // The pool has no room for the next one before this is deleted.
      expect((await call('DELETE', `/api/v1/machines/${body.id}?force=true`)).status).toBe(202)
    })
    await Promise.all(claims)
    expect(order).toEqual(['first', 'second'])
  })

  test('fails when its time is over, and says why and when to come back', async ({ call }) => {
    await makeSource(call)
    await define(call, { min: 1, max: 1 })
    await comesTo(call, 'ready')
    expect((await claimOf(call)).status).toBe(201)
    const { status, body, headers } = await claimOf(call, {}, '?timeout=0.05')
    expect([status, headers.get('retry-after')]).toEqual([503, '5'])
    expect(body.message).toBe(
      'The pool ci has no machine ready in time: 1 of at most 1 machines are claimed. Try again later.',
    )
  })

  test('of a caller who has gone takes nothing', async ({ call }) => {
    await makeSource(call)
    await define(call, { min: 1, max: 1 })
    await comesTo(call, 'ready')
    const { body: first } = await claimOf(call)
    const gone = new AbortController()
    const waiting = claimOf(call, { signal: gone.signal }).catch(() => 'gone')
    await until(async () => expect((await call('GET', '/api/v1/pools/ci')).body.waiting).toBe(1))
    gone.abort()
    await waiting
    await until(async () => expect((await call('GET', '/api/v1/pools/ci')).body.waiting).toBe(0))
    await call('DELETE', `/api/v1/machines/${first.id}?force=true`)
    await comesTo(call, 'ready')
  })

  test('with the same Idempotency-Key gets the same machine', async ({ call }) => {
    await makeSource(call)
    await define(call)
    await comesTo(call, 'ready', 'ready')
    const headers = { 'idempotency-key': 'build-7' }
    const [one, two] = await Promise.all([claimOf(call, { headers }), claimOf(call, { headers })])
    expect(two.body).toEqual(one.body)
    expect((await claimOf(call, { headers })).body.id).toBe(one.body.id)
    expect((await claimOf(call, { headers, body: { ttl: 5 } })).status).toBe(409)
    expect((await claimOf(call, { headers: { 'idempotency-key': 'build-8' } })).body.id).not.toBe(one.body.id)
  })

  test('of many callers gives each another machine, and never more than the maximum', async ({ call }) => {
    await makeSource(call)
    await define(call, { min: 3, max: 6 })
    const claims = Array.from({ length: 8 }, () => claimOf(call, {}, '?timeout=300'))
    const got = new Set<string>()
    for (const claim of claims) void claim.then(({ status, body }) => status === 201 && got.add(body.id))
    await until(() => expect(got.size).toBe(6))
    await until(async () => expect((await call('GET', '/api/v1/pools/ci')).body.waiting).toBe(2))
    expect(await machinesOf(call)).toHaveLength(7)
    expect((await call('DELETE', '/api/v1/pools/ci')).status).toBe(202)
    const refused = (await Promise.all(claims)).filter(({ status }) => status !== 201)
    expect(refused.map(({ status }) => status)).toEqual([404, 404])
    expect(refused[0]!.body.message).toBe('The pool ci was deleted.')
  })

  test('fails if the machine cannot be given away, and the pool has another one then', async ({ call, driver }) => {
    await makeSource(call)
    await define(call, { min: 1, max: 2 })
    await comesTo(call, 'ready')
    const { configure } = driver
    driver.configure = async () => {
      driver.configure = configure
      throw new ServiceError('no-space', 'The disk is full.')
    }
    expect((await claimOf(call)).status).toBe(507)
    expect((await claimOf(call)).status).toBe(201)
    await comesTo(call, 'claimed', 'ready')
  })
})

describe('the machines of a pool', () => {
  test('that have stopped, or are too old, or are of an earlier definition are replaced', async ({ call, driver }) => {
    await makeSource(call)
    await define(call, { min: 1, max: 2 })
    await comesTo(call, 'ready')
    const [first] = await membersOf(call)
    driver.simulateChange(first!.id, 'stopped', 'crashed')
    await until(async () =>
      expect(await membersOf(call)).toMatchObject([{ state: 'ready', id: expect.not.stringMatching(first!.id) }]),
    )
    const [second] = await membersOf(call)
    const body = { from: { machine: 'base' }, template: { labels: { version: '2' } }, min: 1, max: 2 }
    expect((await call('PUT', '/api/v1/pools/ci', { body })).status).toBe(200)
    await until(async () =>
      expect(await membersOf(call)).toMatchObject([{ state: 'ready', id: expect.not.stringMatching(second!.id) }]),
    )
    const [third] = await membersOf(call)
    expect((await call('GET', `/api/v1/machines/${third!.id}`)).body[0].labels).toEqual({ version: '2' })
    expect((await call('PUT', '/api/v1/pools/ci', { body: { ...body, idle_ttl: 1 } })).status).toBe(200)
    await until(async () =>
      expect(await membersOf(call)).toMatchObject([{ state: 'ready', id: expect.not.stringMatching(third!.id) }]),
    )
    await until(async () => expect(await machinesOf(call)).toHaveLength(2))
  })

  test('that cannot be made are tried again, and the pool says why', async ({ call, driver }) => {
    await makeSource(call)
    driver.failures.start = new ServiceError('upstream', 'The hypervisor has no memory left.')
    await define(call, { min: 2 })
    await until(async () =>
      expect((await call('GET', '/api/v1/pools/ci')).body.problem).toBe('The hypervisor has no memory left.'),
    )
    expect((await claimOf(call, {}, '?timeout=0.01')).body.message).toContain('The hypervisor has no memory left.')
    // What could not be started is deleted.
    await until(async () => expect(await machinesOf(call)).toEqual(['base']))
    const { events } = (await call('GET', '/api/v1/events?limit=1000')).body
    expect(events.filter(({ message }: { message: string }) => message === 'POOL_PROBLEM')).toHaveLength(1)
    driver.failures.start = undefined
    await comesTo(call, 'ready', 'ready')
    expect((await call('GET', '/api/v1/pools/ci')).body.problem).toBeUndefined()
  })

  test('are deleted with their pool, or stay as machines of nobody; claimed ones stay', async ({ call }) => {
    await makeSource(call)
    for (const members of ['delete', 'keep']) {
      await define(call)
      await comesTo(call, 'ready', 'ready')
      const { body: claimed } = await claimOf(call)
      await comesTo(call, 'claimed', 'ready', 'ready')
      expect((await call('DELETE', `/api/v1/pools/ci?members=${members}`)).status).toBe(202)
      const names = await machinesOf(call)
      expect(names).toContain(claimed.name)
      expect(names).toHaveLength(members === 'keep' ? 4 : 2)
      expect((await call('GET', '/api/v1/pools/ci')).status).toBe(404)
      for (const name of names.filter(each => each !== 'base'))
        expect((await call('DELETE', `/api/v1/machines/${name}?force=true`)).status).toBe(202)
    }
  })

  test('wait for their condition before they are ready', async ({ call, machines }) => {
    await makeSource(call)
    await define(call, { min: 1, until: 'serial:login:' })
    await until(async () => expect(await membersOf(call)).toMatchObject([{ state: 'preparing' }]))
    const [member] = await membersOf(call)
    await until(() => expect(machines.showStatus(member!.id).status).toBe('running'))
    const [{ Home }] = (await call('GET', `/api/v1/machines/${member!.id}`)).body
    writeFileSync(join(Home, 'serial.log'), 'Debian 12 login: ')
    await comesTo(call, 'ready')
  })
})

describe('a definition', () => {
  test.for([
    [{ colour: 'red' }, /colour: not known here/],
    [{ min: 3, max: 2 }, /max: must be at least min/],
    [{ from: {} }, /from: must have either image or machine/],
    [{ from: { image: 'a', machine: 'b' } }, /from: must have either/],
    [{ name: 'a/b' }, /name: must be 1 to 63/],
    [{ template: { cpus: 2 } }, /template: cpus cannot be chosen for copies/],
    [{ template: { forwards: [] } }, /forwards: not known here/],
    [{ template: { ttl: 5 } }, /ttl: not known here/],
    [{ from: { image: 'none' } }, /template.memory: say how many MB/],
    [{ from: { snapshot: { machine: 'base', name: 'clean' } } }, /snapshot/],
    [{ until: 'noon' }, /until: "noon" is no condition/],
  ] as const)('that is wrong is refused: %j', async ([body, message], { call }) => {
    await makeSource(call)
    const answer = await define(call, body)
    expect(answer.status).toBe(400)
    expect(answer.body.message).toMatch(message)
    expect((await call('GET', '/api/v1/pools')).body).toEqual([])
  })

  test('needs an image or a machine that there is, and a name that is free', async ({ call }) => {
    expect((await define(call)).status).toBe(404)
    expect((await define(call, { from: { image: 'none' }, template: { memory: 16 } })).status).toBe(404)
    await makeSource(call)
    expect((await define(call)).status).toBe(201)
    expect((await define(call, { name: 'CI' })).status).toBe(409)
    expect(
      (await call('PUT', '/api/v1/pools/none', { body: { from: { machine: 'base' }, min: 0, max: 1 } })).status,
    ).toBe(404)
  })

  test('makes copies of a machine only for somebody who may enter it', async ({ call }) => {
    await makeSource(call)
    const body = { name: 'ci', from: { machine: 'base' }, min: 0, max: 1 }
    const as = ['other', 'CREATE_VM', 'LIST_VM']
    expect((await call('POST', '/api/v1/pools', { as, body })).status).toBe(403)
    expect((await call('POST', '/api/v1/pools', { as: [...as, 'EXECUTE_COMMAND_VM'], body })).status).toBe(201)
  })
})

describe('the machines that a pool makes', () => {
  const start = async (call: Call): Promise<string> => {
    const id = await makeSource(call)
    await call('PUT', '/api/v1/machines/base/start')
    return id
  }

  test('are forks of a machine that runs, and ready when they have a connection', async ({ call, driver }) => {
    const id = await start(call)
    const card = ['net0']
    const fork: NonNullable<typeof driver.forks>['fork'] = async (source, forks) => {
      const { definition, home } = (await driver.get(source))!
      const views = forks.map(({ id: own = '', name }): MachineView => {
        const view = createStoppedView({ ...definition, id: own, name }, home)
        return { ...view, state: 'running', disconnectedCards: card }
      })
      for (const view of views) driver.simulateView(view)
      return { source: (await driver.get(source))!, forks: views }
    }
    Object.assign(driver, { forks: { fork } })
    // A fork has no boot whose output could match.
    const body = { until: 'serial:READY', min: 1, max: 1, template: { labels: { team: 'build' } } }
    expect((await define(call, body)).status).toBe(201)
    const findMember = async (): Promise<MachineView> => (await driver.list()).find(view => view.id !== id)!
    await until(async () => expect((await findMember()).definition.labels).toEqual({ team: 'build' }))
    expect(await statesOf(call)).toEqual(['preparing'])
    const { disconnectedCards: _, ...connected } = await findMember()
    driver.simulateView(connected)
    await comesTo(call, 'ready')
    expect((await membersOf(call))[0]!.id).toBe(connected.id)
  })

  test('are copies of a machine that runs and cannot fork', async ({ call, driver }) => {
    await start(call)
    const fork = async (): Promise<never> => {
      throw new ServiceError('unsupported', 'Forks of base are unsupported.')
    }
    Object.assign(driver, { forks: { fork }, features: { ...driver.features, cloneRunning: true } })
    await define(call, { min: 1, max: 1 })
    await comesTo(call, 'ready')
  })

  test('are copies of a snapshot', async ({ call, driver }) => {
    const id = await makeSource(call)
    const snapshot = { id: randomUUID(), name: 'clean', description: '', created_at: '', layers: {}, size: 0 }
    const cloned: string[] = []
    const snapshots = {
      async clone(...[source, of, name, options]: Parameters<SnapshotDriver['clone']>) {
        cloned.push(of)
        return driver.clone(source, name, options)
      },
    }
    Object.assign(driver, { snapshots })
    const view = (await driver.get(id))!
    const { definition } = view
    driver.simulateView({ ...view, snapshots: { snapshots: [{ ...snapshot, definition, state: 'stopped' }] } })
    const from = { machine: 'base', snapshot: 'CLEAN' }
    expect((await define(call, { from, min: 1, max: 1 })).body).toMatchObject({ from })
    await comesTo(call, 'ready')
    expect(cloned).toEqual([snapshot.id])
  })

  test.for([
    [{ machine: 'base', snapshot: 'none' }, 404],
    [{ snapshot: 'clean' }, 400],
    [{ image: 'debian', snapshot: 'clean' }, 400],
    [{ image: 'debian', machine: 'base' }, 400],
  ] as const)('are not made of %j', async ([from, status], { call, driver }) => {
    await makeSource(call)
    Object.assign(driver, { snapshots: {} })
    expect((await define(call, { from })).status).toBe(status)
  })
})
