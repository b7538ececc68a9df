import { describe, expect } from 'vitest'
import type { EventMessage } from '#lib/events/event.ts'
import { type Answer, type Call, test } from '../../support/harness.ts'
import { until } from '../../support/waiting.ts'

const asJob = { prefer: 'respond-async' }
const machine = '/api/v1/machines/one'

const create = async (call: Call): Promise<void> => {
  const body = { name: 'one', memory: 64, disks: [{ size: 1 }] }
  expect((await call('POST', '/api/v1/machines', { body })).status).toBe(201)
}
const status = async (call: Call): Promise<string> => (await call('GET', `${machine}/status`)).body.status
const shownAs = (call: Call, wanted: string): Promise<void> =>
  until(async () => expect(await status(call)).toBe(wanted), 5)
const clone = (call: Call, name: string, headers = {}): Promise<Answer> =>
  call('PUT', `${machine}/clone`, { body: { clone_name: name }, headers })
const ended = (call: Call, { body: { id } }: Answer): Promise<Answer['body']> =>
  until(async () => {
    const { body: job } = await call('GET', `/api/v1/jobs/${id}`)
    expect(['completed', 'failed']).toContain(job.state)
    return job
  })
/** Waits until a job is running. */
const running = (call: Call, { body: { id } }: Answer): Promise<void> =>
  until(async () => expect((await call('GET', `/api/v1/jobs/${id}`)).body.state).toBe('running'), 5)
/** Returns the states of the machine that were published, in their order. */
const states = async (call: Call): Promise<readonly string[]> => {
  const { body } = await call('GET', machine)
  const events: EventMessage[] = (await call('GET', '/api/v1/events?limit=1000')).body.events
  return events
    .filter(({ message, body: what }) => message === 'VM_STATE_CHANGED' && what?.['vm_id'] === body[0].ID)
    .map(({ body: what }) => String(what?.['current_state']))
}

describe('clones of one machine', () => {
  test.for([{}, asJob])(
    'are created side by side, with one event for the source: %j',
    async (headers, { call, driver }) => {
      await create(call)
      driver.delay = 150
      const names = Array.from({ length: 10 }, (_, at) => `clone ${at}`)
      const making = Promise.all(names.map(name => clone(call, name, headers)))
      await shownAs(call, 'cloning')
      const answers = await making
      if (headers === asJob) {
        const jobs = await Promise.all(answers.map(answer => ended(call, answer)))
        expect(jobs.map(({ state, error }) => error ?? state)).toEqual(names.map(() => 'completed'))
      } else expect(answers.map(answer => answer.status)).toEqual(names.map(() => 200))
      expect((await call('GET', '/api/v1/machines')).body).toHaveLength(11)
      await shownAs(call, 'stopped')
      expect(await states(call)).toEqual(['cloning', 'stopped'])
    },
  )

  test('exclude other operations, and do not overtake a waiting one', async ({ call, driver }) => {
    await create(call)
    driver.delay = 150
    const first = clone(call, 'first')
    await shownAs(call, 'cloning')
    expect(await call('PUT', `${machine}/start`)).toMatchObject({
      status: 409,
      body: { message: 'one is cloning; wait until that is done, then try again.' },
    })
    expect((await call('DELETE', machine)).status).toBe(409)
    const starting = await call('PUT', `${machine}/start`, { headers: asJob })
    const late = await clone(call, 'third', asJob)
    await running(call, late)
    expect((await clone(call, 'second')).status).toBe(409)
    expect((await first).status).toBe(200)
    expect(await ended(call, starting)).toMatchObject({ state: 'completed' })
    expect(await ended(call, late)).toMatchObject({
      state: 'failed',
      code: 409,
      error: expect.stringContaining('one is running, so clone is not possible now'),
    })
    expect(await states(call)).toEqual(['cloning', 'stopped', 'starting', 'running'])
  })

  test('with the same name create one machine', async ({ call, driver }) => {
    await create(call)
    driver.delay = 50
    const answers = await Promise.all([clone(call, 'same'), clone(call, 'SAME', asJob), clone(call, 'same')])
    const outcomes = await Promise.all(
      answers.map(async answer => (answer.status === 202 ? ((await ended(call, answer)).code ?? 200) : answer.status)),
    )
    expect(outcomes.toSorted((a, b) => a - b)).toEqual([200, 409, 409])
  })
})

describe('a job that finds its machine busy', () => {
  test('waits in the order of the requests', async ({ call, driver }) => {
    await create(call)
    driver.delay = 60
    const verbs = ['start', 'pause', 'resume', 'suspend', 'start', 'reset']
    const jobs = []
    for (const verb of verbs) jobs.push(await call('PUT', `${machine}/${verb}`, { headers: asJob }))
    const outcomes = await Promise.all(jobs.map(job => ended(call, job)))
    expect(outcomes.map(({ error, state }) => error ?? state)).toEqual(verbs.map(() => 'completed'))
    const passing = ['starting', 'pausing', 'resuming', 'suspending', 'resuming', 'resetting']
    const stable = ['running', 'paused', 'running', 'suspended', 'running', 'running']
    expect(await states(call)).toEqual(passing.flatMap((state, at) => [state, stable[at]]))
  })

  test('ends when it is cancelled, and the next job starts', async ({ call, driver }) => {
    await create(call)
    driver.delay = 60_000
    const slow = await clone(call, 'slow', asJob)
    await shownAs(call, 'cloning')
    const waiting = await call('PUT', `${machine}/start`, { headers: asJob })
    const behind = await clone(call, 'behind', asJob)
    await running(call, behind)
    driver.delay = 1
    await call('POST', `/api/v1/jobs/${waiting.body.id}/cancel`)
    expect(await ended(call, waiting)).toMatchObject({ state: 'failed', error: expect.stringContaining('cancelled') })
    // The one behind only reads, as the first does, which is still under way.
    expect(await ended(call, behind)).toMatchObject({ state: 'completed' })
    expect(await status(call)).toBe('cloning')
    await call('POST', `/api/v1/jobs/${slow.body.id}/cancel`)
    await ended(call, slow)
    expect(await status(call)).toBe('stopped')
  })

  test('fails if the machine was deleted meanwhile', async ({ call, driver }) => {
    await create(call)
    driver.delay = 80
    const deleting = await call('DELETE', machine, { headers: asJob })
    await shownAs(call, 'deleting')
    const waiting = await call('PUT', `${machine}/start`, { headers: asJob })
    expect(await ended(call, deleting)).toMatchObject({ state: 'completed' })
    expect(await ended(call, waiting)).toMatchObject({ state: 'failed', code: 404 })
  })

  test('is checked against the state of the machine when it starts', async ({ call, driver }) => {
    await create(call)
    driver.delay = 80
    const starting = call('PUT', `${machine}/start`)
    await shownAs(call, 'starting')
    const set = (group: string, operation: string, value: string) =>
      call('PUT', `${machine}/set`, {
        headers: { prefer: 'wait=10' },
        body: { operations: [{ group, operation, value }] },
      })
    const [grown, described] = await Promise.all([set('cpu', 'set', '2'), set('description', 'set', 'busy')])
    expect((await starting).status).toBe(200)
    expect(described.status).toBe(200)
    expect(grown).toMatchObject({ status: 409, body: { operations: [{ status: 'Error' }] } })
    expect((await call('GET', machine)).body[0]).toMatchObject({ Description: 'busy', Hardware: { cpu: { cpus: 1 } } })
  })
})

describe('Prefer: wait', () => {
  const start = (call: Call, prefer: string, signal?: AbortSignal): Promise<Answer> =>
    call('PUT', `${machine}/start`, { headers: { prefer }, ...(signal && { signal }) })
  const applied = ({ headers }: Answer): string | null => headers.get('preference-applied')
  /** The machine is being cloned until the returned function is called. */
  const busy = async (call: Call, driver: { delay: number }): Promise<() => Promise<void>> => {
    await create(call)
    driver.delay = 60_000
    const job = await clone(call, 'slow', asJob)
    await shownAs(call, 'cloning')
    driver.delay = 1
    return async () => {
      await call('POST', `/api/v1/jobs/${job.body.id}/cancel`)
      await ended(call, job)
    }
  }

  test.for([
    ['wait=10', 'wait=10'],
    ['WAIT = "20" ; x="a,b;c"', 'wait=20'],
    ['foo="a,wait=1", wait=7, wait=3', 'wait=7'],
    ['wait=100000', 'wait=300'],
  ] as const)('makes a plain call wait for the machine: %s', async ([prefer, preference], { call, driver }) => {
    const free = await busy(call, driver)
    const waiting = start(call, prefer)
    // It has been heard of before the machine is free.
    await call('GET', `${machine}/status`)
    await free()
    const answer = await waiting
    expect(answer).toMatchObject({ status: 200, body: { operation: 'Start' } })
    expect(applied(answer)).toBe(preference)
  })

  test.for([
    'wait',
    'wait=',
    'wait=-1',
    'wait=1.5',
    'wait=soon',
    'wait=soon, wait=5',
    'x; wait=5',
    '"wait=5"',
    ',;=,"',
  ])('is ignored if it is malformed: %s', async (prefer, { call, driver }) => {
    const free = await busy(call, driver)
    const answer = await start(call, prefer)
    expect(answer.status).toBe(409)
    expect(applied(answer)).toBeNull()
    await free()
  })

  test('ends with a conflict when the time has passed', async ({ call, driver }) => {
    const free = await busy(call, driver)
    for (const prefer of ['wait=0', 'wait=1']) {
      const answer = await start(call, prefer)
      expect(answer).toMatchObject({
        status: 409,
        body: { message: 'one is cloning; wait until that is done, then try again.' },
      })
      expect(applied(answer)).toBe(prefer)
    }
    await free()
    expect((await start(call, 'wait=0')).status).toBe(200)
  })

  test('ends when the client disconnects', async ({ call, driver, observed }) => {
    const free = await busy(call, driver)
    const gone = new AbortController()
    const waiting = start(call, 'wait=60', gone.signal).catch(() => {})
    await call('GET', `${machine}/status`)
    gone.abort()
    await waiting
    // Over a connection the service hears of it a moment later.
    await until(() => expect(observed.at(-1)?.operation).toBe('machines/start'))
    await free()
    expect(await status(call)).toBe('stopped')
    expect(await states(call)).toEqual(['cloning', 'stopped'])
  })

  test('is ignored by endpoints that do not act on a machine', async ({ call }) => {
    expect(applied(await call('GET', '/api/v1/machines', { headers: { prefer: 'wait=5' } }))).toBeNull()
  })

  test('with respond-async the reply is the result if it comes in time, else the job', async ({ call, driver }) => {
    await create(call)
    const both = { prefer: 'respond-async, wait=20' }
    const done = await call('PUT', `${machine}/start`, { headers: both })
    expect(done).toMatchObject({ status: 200, body: { operation: 'Start', status: 'Success' } })
    expect(applied(done)).toBe('wait=20')
    expect(await call('PUT', '/api/v1/machines/nobody/start', { headers: both })).toMatchObject({ status: 404 })
    driver.delay = 10_000
    const begun = await call('PUT', `${machine}/pause`, { headers: { prefer: 'wait=0, respond-async' } })
    expect(begun).toMatchObject({ status: 202, body: { job_operation: 'pause' } })
    expect(applied(begun)).toBe('respond-async, wait=0')
    await call('POST', `/api/v1/jobs/${begun.body.id}/cancel`)
    await ended(call, begun)
  })
})
