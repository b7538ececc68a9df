import { randomUUID } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, vi } from 'vitest'
import type { Principal } from '#lib/access/principal.ts'
import { ServiceError } from '#lib/errors.ts'
import { createApp } from '#lib/http/app.ts'
import { type Machines, openMachines } from '#lib/machines/machines.ts'
import { StoredSchedule } from '#lib/snapshot-schedules/records.ts'
import type { ScheduledChange } from '#lib/snapshot-schedules/run-schedule.ts'
import { openSnapshotSchedules, type SnapshotSchedules } from '#lib/snapshot-schedules/snapshot-schedules.ts'
import type { Store } from '#lib/storage/store.ts'
import createSnapshot from '#functions/machines/create-snapshot.ts'
import listSnapshots from '#functions/machines/list-snapshots.ts'
import deleteSchedule from '#functions/snapshot-schedules/delete.ts'
import listSchedules from '#functions/snapshot-schedules/list.ts'
import setSchedule from '#functions/snapshot-schedules/set.ts'
import { withSnapshots } from '../../support/drivers/simulated-snapshots.ts'
import { callOf, host, test as base } from '../../support/harness.ts'
import { refuseImage } from '../../support/images.ts'
import { until } from '../../support/waiting.ts'

const routes = [
  { id: 'machines/create-snapshot', endpoint: createSnapshot },
  { id: 'machines/list-snapshots', endpoint: listSnapshots },
  { id: 'snapshot-schedules/list', endpoint: listSchedules },
  { id: 'snapshot-schedules/set', endpoint: setSchedule },
  { id: 'snapshot-schedules/delete', endpoint: deleteSchedule },
]
const start = Date.parse('2026-11-23T14:00:00Z')

const test = base.extend<{ service: Awaited<ReturnType<typeof openService>> }>({
  service: async ({ driver, eventLog }, use) => {
    const service = await openService(driver, eventLog)
    await use(service)
    await service.close()
  },
})

/** Machines with schedules, whose clock the test moves. */
const openService = async (
  driver: Parameters<typeof withSnapshots>[0],
  { store, events }: Pick<Parameters<typeof openMachines>[0], 'store' | 'events'>,
) => {
  const caller: { -readonly [M in keyof Principal]: Principal[M] } = {
    ...{ id: randomUUID(), username: 'jane', email: '', roles: [], claims: new Set(), superUser: true },
  }
  const fail = (error: unknown): never => {
    throw error
  }
  const idle = () => ({ [Symbol.dispose]() {} })
  const changes: ScheduledChange[] = []
  const failures: unknown[] = []
  const ports = {
    beforeCreate: (deadline: AbortSignal): Promise<void> => Promise.resolve(deadline.throwIfAborted()),
    record: async (change: ScheduledChange): Promise<void> => void changes.push(change),
    findUser: async (): Promise<Principal> => ({ ...caller }),
  }
  const machines: Machines = await openMachines({
    driver: withSnapshots(driver, deadline => ports.beforeCreate(deadline)),
    ...{ host, leaseImage: refuseImage, stopTimeout: 1_000, store, events, every: idle },
    ...{ onPublishFailed: fail, onResumeFailed: fail, onAutomationFailed: fail },
    snapshotQuota: { count: 5, bytes: 300 * 2 ** 20 },
  })
  let look = (): void => {}
  // Each start has a store of its own in a service, and all have this one here.
  const collection = store.collection('snapshot-schedules', StoredSchedule)
  const sharedStore: Store = Object.assign(Object.create(store), { collection: () => collection })
  const openSchedules = (): Promise<SnapshotSchedules> =>
    openSnapshotSchedules({
      ...{ store: sharedStore, machines, publish: events.publish },
      every(_, work) {
        look = work
        return idle()
      },
      findUser: () => ports.findUser(),
      record: change => ports.record(change),
      onFailed: (_, error) => void failures.push(error),
    })
  let schedules = await openSchedules()
  const call = (...request: Parameters<ReturnType<typeof callOf>>) =>
    callOf(
      createApp({
        ...{ routes, services: { machines, snapshotSchedules: schedules }, checkReplies: true, onOutcome: () => {} },
        authenticate: async () => ({ ...caller }),
      }),
    )(...request)
  const at = (path: string): string => `/api/v1/machines/box${path}`
  const { id } = await machines.create({
    ...{ name: 'box', description: '', cpus: 1, memory: 64, disks: [{ size: 1 }] },
  })
  await machines.run(id, 'start')
  return {
    ...{ id, caller, machines, events, ports, changes, failures, call },
    set: (name: string, body: object) => call('PUT', at(`/snapshot-schedules/${name}`), { body }),
    remove: (name: string) => call('DELETE', at(`/snapshot-schedules/${name}`)),
    schedules: async () => (await call('GET', at('/snapshot-schedules'))).body.schedules,
    snapshots: async () => (await call('GET', at('/snapshots'))).body.snapshots,
    create: (snapshot_name: string, memory = false) =>
      call('POST', at('/snapshots'), { body: { snapshot_name, memory } }),
    look: () => look(),
    /** Lets time pass, and does what is due then. Resolves when it is done. */
    async pass(seconds: number): Promise<void> {
      vi.setSystemTime(Date.now() + seconds * 1000)
      look()
      await until(async () => {
        const { body } = await call('GET', at('/snapshot-schedules'))
        for (const { next_at } of body.schedules) expect(Date.parse(next_at)).toBeGreaterThan(Date.now())
      })
    },
    /** Forgets the schedules in memory, as a kill does, and opens them again. */
    async reopen(): Promise<void> {
      schedules = await openSchedules()
    },
    closeSchedules: () => schedules.close(),
    async close(): Promise<void> {
      await schedules.close()
      await machines.close()
    },
  }
}

describe('schedules of snapshots', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['Date'], now: start })
  })
  afterEach(() => {
    vi.useRealTimers()
  })

  test('make snapshots in time and keep what their rules say, and no snapshot of others goes', async ({ service }) => {
    await service.create('by hand')
    const reply = await service.set('often', { every: 60, keep: { last: 2 } })
    expect(reply).toMatchObject({
      status: 200,
      body: { name: 'often', every: 60, memory: false, set_by: 'jane', next_at: '2026-11-23T14:01:00.000Z' },
    })
    for (const _ of [1, 2, 3, 4]) await service.pass(60)
    expect(await service.snapshots()).toMatchObject([
      { name: 'by hand' },
      { name: 'often 2026-11-23T14:03:00Z', schedule: 'often', state: 'poweroff' },
      { name: 'often 2026-11-23T14:04:00Z', schedule: 'often' },
    ])
    expect((await service.snapshots())[0].schedule).toBeUndefined()
    expect(await service.schedules()).toMatchObject([
      { last_at: '2026-11-23T14:04:00.000Z', next_at: '2026-11-23T14:05:00.000Z' },
    ])
    expect(service.changes.map(({ operation, caller }) => [operation, caller.username])).toEqual([
      ['machines/create-snapshot', 'jane'],
      ['machines/create-snapshot', 'jane'],
      ['machines/create-snapshot', 'jane'],
      ['machines/delete-snapshot', 'jane'],
      ['machines/create-snapshot', 'jane'],
      ['machines/delete-snapshot', 'jane'],
    ])
    expect(service.failures).toEqual([])
  })

  test('checkpoints have the memory, within their budget', async ({ service }) => {
    await service.set('checkpoints', { every: 10, memory: true, keep: { last: 3 }, max_size: 128 })
    for (const _ of [1, 2, 3, 4]) await service.pass(10)
    // Each has the 64 MB of the machine.
    expect(await service.snapshots()).toMatchObject([
      { name: 'checkpoints 2026-11-23T14:00:30Z', state: 'poweron' },
      { name: 'checkpoints 2026-11-23T14:00:40Z', state: 'poweron' },
    ])
  })

  test('a run that was missed is made up once, also after a kill', async ({ service }) => {
    await service.set('nightly', { at: ['03:00'], keep: { daily: 3 } })
    await service.reopen()
    await service.pass(5 * 24 * 3600)
    service.look()
    expect(await service.snapshots()).toMatchObject([{ name: 'nightly 2026-11-28T14:00:00Z' }])
    expect(await service.schedules()).toMatchObject([{ next_at: '2026-11-29T03:00:00.000Z' }])
  })

  test('a run that is killed after its snapshot makes no second one', async ({ service }) => {
    await service.set('often', { every: 60, keep: { last: 2 } })
    service.ports.record = () => new Promise(() => {})
    vi.setSystemTime(Date.now() + 60_000)
    service.look()
    await until(async () => expect(await service.snapshots()).toHaveLength(1))
    service.ports.record = async () => {}
    await service.reopen()
    await service.pass(1)
    expect(await service.snapshots()).toHaveLength(1)
    expect(await service.schedules()).toMatchObject([{ next_at: '2026-11-23T14:02:01.000Z' }])
  })

  test('a shutdown cancels a run, and the next start makes it up', async ({ service }) => {
    await service.set('often', { every: 60, keep: { last: 2 } })
    const begun = Promise.withResolvers<void>()
    service.ports.beforeCreate = deadline =>
      new Promise((_, reject) => {
        deadline.addEventListener('abort', () => reject(deadline.reason))
        begun.resolve()
      })
    vi.setSystemTime(Date.now() + 60_000)
    service.look()
    await begun.promise
    await service.closeSchedules()
    expect(await service.snapshots()).toEqual([])
    service.ports.beforeCreate = async () => {}
    await service.reopen()
    await service.pass(0)
    expect(await service.snapshots()).toHaveLength(1)
    expect(service.failures).toEqual([])
  })

  test('two that are due run one after the other', async ({ service }) => {
    let [now, most] = [0, 0]
    service.ports.beforeCreate = async () => {
      now += 1
      most = Math.max(most, now)
      await new Promise(resolve => setImmediate(resolve))
      now -= 1
    }
    for (const name of ['a', 'b']) await service.set(name, { every: 60, keep: { last: 2 } })
    vi.setSystemTime(Date.now() + 60_000)
    await until(async () => {
      service.look()
      expect(await service.snapshots()).toHaveLength(2)
    })
    expect(most).toBe(1)
  })

  test('it acts with the present rights of who has set it', async ({ service }) => {
    const before = service.events.head()
    await service.set('often', { every: 60, keep: { last: 2 } })
    const claims = new Set(['LIST_SNAPSHOT_VM', 'CREATE_SNAPSHOT_VM'])
    service.ports.findUser = async () => ({ ...service.caller, superUser: false, claims })
    await service.pass(60)
    expect(await service.schedules()).toMatchObject([{ problem: expect.stringContaining('DELETE_SNAPSHOT_VM') }])
    service.ports.findUser = async () => {
      throw new ServiceError('forbidden', 'Who asked for this is not a user any more.')
    }
    await service.pass(60)
    expect(await service.schedules()).toMatchObject([{ problem: 'Who asked for this is not a user any more.' }])
    expect(await service.snapshots()).toEqual([])
    service.ports.findUser = async () => ({ ...service.caller })
    await service.pass(60)
    expect((await service.schedules())[0].problem).toBeUndefined()
    expect(await service.snapshots()).toHaveLength(1)
    const problems = service.events
      .entries(before, 100)
      .filter(({ message }) => message === 'VM_SNAPSHOT_SCHEDULES_UPDATED')
      .map(({ body }) => (body!['schedules'] as { problem?: string }[])[0]?.problem?.slice(0, 3))
    expect(problems).toEqual([undefined, 'Thi', 'Who', undefined])
    expect(service.failures).toHaveLength(2)
  })

  test('a machine that has not run since its last snapshot gets none', async ({ service }) => {
    await service.set('often', { every: 60, keep: { last: 4 } })
    await service.pass(60)
    vi.setSystemTime(Date.now() + 1000)
    await service.machines.run(service.id, 'stop', { force: true })
    await service.pass(60)
    await service.pass(60)
    expect(await service.snapshots()).toHaveLength(2)
    await service.machines.run(service.id, 'start')
    await service.pass(60)
    expect(await service.snapshots()).toHaveLength(3)
  })

  test('it goes with its machine, and alone when it is deleted', async ({ service }) => {
    for (const name of ['a', 'b']) await service.set(name, { every: 60, keep: { last: 1 } })
    expect(await service.remove('A')).toMatchObject({ status: 202 })
    expect(await service.remove('a')).toMatchObject({ status: 404 })
    expect(await service.schedules()).toMatchObject([{ name: 'b' }])
    const before = service.events.head()
    await service.machines.remove(service.id, { force: true })
    service.look()
    // A folder of machines may be restored a while after the store.
    vi.setSystemTime(Date.now() + 24 * 3_600_000)
    service.look()
    await until(() =>
      expect(service.events.entries(before, 100)).toContainEqual(
        expect.objectContaining({
          message: 'VM_SNAPSHOT_SCHEDULES_UPDATED',
          body: { vm_id: service.id, schedules: [] },
        }),
      ),
    )
  })

  test('one that is replaced by its name in another case keeps its snapshots, and a machine has at most 16', async ({
    service,
  }) => {
    await service.set('Nightly', { every: 60, keep: { last: 1 } })
    await service.pass(60)
    await service.create('by hand')
    expect(await service.set('nightly', { every: 60, keep: { last: 1 } })).toMatchObject({ body: { name: 'Nightly' } })
    await service.machines.run(service.id, 'stop', { force: true })
    await service.machines.run(service.id, 'start')
    await service.pass(60)
    expect((await service.snapshots()).map((one: { schedule?: string }) => one.schedule)).toEqual([
      undefined,
      'Nightly',
    ])
    for (let at = 1; at < 16; at += 1)
      expect(await service.set(`more-${at}`, { every: 3600, keep: { last: 1 } })).toMatchObject({ status: 200 })
    expect(await service.set('more-16', { every: 3600, keep: { last: 1 } })).toMatchObject({
      status: 409,
      body: { message: expect.stringContaining('Delete one of them') },
    })
    expect(await service.set('MORE-15', { every: 7200, keep: { last: 1 } })).toMatchObject({ status: 200 })
  })

  test('the quota counts, and a refusal names what to delete', async ({ service }) => {
    for (const name of ['1', '2', '3', '4', '5']) await service.create(name)
    const refused = await service.create('6')
    expect(refused).toMatchObject({ status: 409, body: { message: expect.stringContaining('the oldest is 1') } })
    await service.set('often', { every: 60, keep: { last: 2 } })
    await service.pass(60)
    expect(await service.schedules()).toMatchObject([
      { problem: expect.stringContaining('snapshot_max_count allows 5') },
    ])
  })

  test('the quota counts bytes too, with the memory of the next one', async ({ service }) => {
    for (const name of ['1', '2', '3', '4']) expect(await service.create(name, true)).toMatchObject({ status: 202 })
    const { status, body } = await service.create('5', true)
    expect([status, body.message]).toEqual([409, expect.stringContaining('snapshot_max_size allows 314.6 MB')])
    expect(body.message).toMatch(/Delete one first; the largest is [1-4]/)
    expect(await service.create('5')).toMatchObject({ status: 202 })
  })

  test('a caller who may list the snapshots of a machine can wait for a change of them', async ({ service }) => {
    const wait = (claims: readonly string[]) => {
      const user = { ...service.caller, superUser: claims.length === 0, claims: new Set(claims) }
      const query = { for: 'event:VM_SNAPSHOTS_UPDATED', timeout: 60 }
      const { signal } = new AbortController()
      return service.machines.wait(service.id, user, query, { signal, reauthenticate: async () => user })
    }
    await expect(wait(['LIST_VM'])).rejects.toMatchObject({ fault: 'forbidden' })
    const waiting = [wait([]), wait(['LIST_VM', 'LIST_SNAPSHOT_VM'])]
    await service.create('one')
    for (const one of waiting) expect(await one).toMatchObject({ result: 'met' })
  })

  test.for([
    ['without a time', { keep: { last: 1 } }, 400],
    ['with two kinds of times', { every: 60, at: ['03:00'], keep: { last: 1 } }, 400],
    ['with a time that there is not', { at: ['24:00'], keep: { last: 1 } }, 400],
    ['too often', { every: 9, keep: { last: 1 } }, 400],
    ['without rules', { every: 60 }, 400],
    ['with rules that keep nothing', { every: 60, keep: { last: 0 } }, 400],
    ['with a rule that there is not', { every: 60, keep: { last: 1, monthly: 1 } }, 400],
    ['with rules that keep more than a machine may have', { every: 60, keep: { last: 2, daily: 3 } }, 409],
  ] as const)('a schedule %s is refused', async ([, body, status], { service }) => {
    expect(await service.set('bad', body)).toMatchObject({ status })
    expect(await service.schedules()).toEqual([])
  })

  test('who may not make and delete snapshots sets none, and neither does a user of a control', async ({ service }) => {
    const rules = { every: 60, keep: { last: 1 } }
    Object.assign(service.caller, { superUser: false, claims: new Set(['CREATE_SNAPSHOT_VM', 'LIST_SNAPSHOT_VM']) })
    expect(await service.set('a', rules)).toMatchObject({ status: 403 })
    Object.assign(service.caller, { superUser: true, issuer: 'https://control.example.test' })
    expect(await service.set('a', rules)).toMatchObject({ status: 403 })
    expect(await service.schedules()).toEqual([])
  })
})
