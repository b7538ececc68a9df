import { describe, expect, vi } from 'vitest'
import { every } from '#lib/async/every.ts'
import { openJobs } from '#lib/jobs/jobs.ts'
import { ServiceError } from '#lib/errors.ts'
import { openEvents } from '#lib/events/events.ts'
import { openStore } from '#lib/storage/open-store.ts'
import type { ProgressReporter } from '#lib/async/progress.ts'
import { newFolder } from '../support/folder.ts'
import { type Answer, type Call, test } from '../support/harness.ts'
import { until } from '../support/waiting.ts'

const prefer = { prefer: 'respond-async' }
const newMachine = (call: Call, name = 'one'): Promise<Answer> =>
  call('POST', '/api/v1/machines', { body: { name, cpus: 1, memory: 16, disks: [{ size: 1 }] } })

const jobOf = async (call: Call, id: string): Promise<Answer['body']> => (await call('GET', `/api/v1/jobs/${id}`)).body
const ended = (call: Call, id: string): Promise<Answer['body']> =>
  until(async () => {
    const job = await jobOf(call, id)
    expect(['completed', 'failed']).toContain(job.state)
    return job
  })
const jobMessages = async (call: Call): Promise<readonly Answer['body'][]> =>
  (await call('GET', '/api/v1/events?types=job_manager&limit=1000')).body.events

describe('Prefer: respond-async', () => {
  test('answers 202 with a job at Location, whose result is the answer of the request', async ({ call }) => {
    const { body: machine } = await newMachine(call)
    const begun = await call('PUT', '/api/v1/machines/one/start', { headers: prefer })
    expect(begun).toMatchObject({
      status: 202,
      body: { state: 'pending', job_type: 'machines', job_operation: 'start' },
    })
    expect(begun.headers.get('location')).toBe(`/api/v1/jobs/${begun.body.id}`)
    expect(begun.headers.get('preference-applied')).toBe('respond-async')
    expect(await ended(call, begun.body.id)).toMatchObject({
      state: 'completed',
      progress: 100,
      result: { id: machine.id, operation: 'Start', status: 'Success' },
      result_record_id: machine.id,
      result_record_type: 'virtual_machine',
    })
    expect((await call('GET', '/api/v1/machines/one/status')).body.status).toBe('running')
  })

  test('is ignored by short operations, and other preferences are ignored', async ({ call }) => {
    await newMachine(call)
    expect((await call('GET', '/api/v1/machines', { headers: prefer })).status).toBe(200)
    const other = { prefer: 'return=minimal, wait=3' }
    expect((await call('PUT', '/api/v1/machines/one/start', { headers: other })).body.operation).toBe('Start')
    const several = { prefer: 'return=minimal, Respond-Async; x=1' }
    expect((await call('PUT', '/api/v1/machines/one/stop', { headers: several })).status).toBe(202)
  })

  test('a caller without the right is refused at once; a later refusal fails the job', async ({ call }) => {
    await newMachine(call)
    const as = ['LIST_VM', 'JOB_MANAGER_LIST_OWN']
    expect((await call('PUT', '/api/v1/machines/one/start', { as, headers: prefer })).status).toBe(403)
    expect((await call('GET', '/api/v1/jobs')).body).toEqual([])
    const begun = await call('PUT', '/api/v1/machines/nobody/pause', { headers: prefer })
    expect(await ended(call, begun.body.id)).toMatchObject({
      state: 'failed',
      code: 404,
      error: expect.stringContaining('nobody'),
    })
  })

  test('repeated requests with one Idempotency-Key start one job', async ({ call }) => {
    await newMachine(call)
    const headers = { ...prefer, 'idempotency-key': 'k' }
    const clone = () => call('PUT', '/api/v1/machines/one/clone', { body: { clone_name: 'two' }, headers })
    const answers = await Promise.all([clone(), clone(), clone()])
    await ended(call, answers[0].body.id)
    answers.push(await clone())
    expect(new Set(answers.map(({ status, body }) => `${status} ${body.id}`)).size).toBe(1)
    expect((await call('GET', '/api/v1/jobs')).body).toHaveLength(1)
    expect((await call('GET', '/api/v1/machines')).body).toHaveLength(2)
  })

  test('no user has more than 100 running jobs, however they are started', async ({ call, driver }) => {
    await newMachine(call)
    driver.delay = 60_000
    const start = () => call('PUT', '/api/v1/machines/one/start', { headers: prefer })
    const answers = await Promise.all(Array.from({ length: 130 }, start))
    const begun = answers.filter(({ status }) => status === 202)
    expect(begun).toHaveLength(100)
    expect(answers.filter(({ status }) => status === 503)).toHaveLength(30)
    for (const { body } of begun) await call('POST', `/api/v1/jobs/${body.id}/cancel`)
    for (const { body } of begun) await ended(call, body.id)
    expect((await call('PUT', '/api/v1/machines/one/pause', { headers: prefer })).status).toBe(202)
  })

  test('a defect fails the job without showing its message', async ({ call, driver, defects }) => {
    await newMachine(call)
    driver.failure = new Error('secret of the inside')
    const begun = await call('PUT', '/api/v1/machines/one/start', { headers: prefer })
    const job = await ended(call, begun.body.id)
    expect(job).toMatchObject({ state: 'failed', code: 500 })
    expect(JSON.stringify(job)).not.toContain('secret of the inside')
    expect(defects).toEqual([driver.failure])
  })
})

describe('the events of a job', () => {
  test('report its start, its steps and its end, each with the record but without the result', async ({ call }) => {
    await newMachine(call)
    const { body } = await call('PUT', '/api/v1/machines/one/clone', { body: { clone_name: 'two' }, headers: prefer })
    await ended(call, body.id)
    const changes = await jobMessages(call)
    expect(changes.every(({ body: job }) => job.id === body.id)).toBe(true)
    expect(changes.some(({ body: job }) => 'result' in job)).toBe(false)
    expect(changes.at(-1).body.result_record_id).toEqual(expect.any(String))
    expect(changes[0]).toMatchObject({ message: 'JOB_CREATED', body: { state: 'pending', progress: 0 } })
    expect(changes.map(({ message }) => message).slice(-2)).toEqual(['JOB_UPDATED', 'JOB_COMPLETED'])
    const steps = changes.map(({ body: job }) => job.steps?.[0]?.state)
    expect(steps).toContain('running')
    expect(changes.at(-1).body).toMatchObject({
      state: 'completed',
      progress: 100,
      steps: [{ name: 'copy', display_name: 'Copy the disks', state: 'completed', current_percentage: 100 }],
    })
  })
})

describe('cancelling', () => {
  test('ends the work in a stable state, and the job names who cancelled it', async ({ call, driver }) => {
    await newMachine(call)
    driver.delay = 10_000
    const { body } = await call('PUT', '/api/v1/machines/one/start', { headers: prefer })
    await until(async () => expect((await call('GET', '/api/v1/machines/one/status')).body.status).toBe('starting'))
    const cancelled = await call('POST', `/api/v1/jobs/${body.id}/cancel`)
    expect(cancelled).toMatchObject({ status: 202, body: { message: 'The job was cancelled by tester.' } })
    expect(await ended(call, body.id)).toMatchObject({
      state: 'failed',
      code: 409,
      error: 'The job was cancelled by tester.',
    })
    expect((await call('GET', '/api/v1/machines/one/status')).body.status).toBe('stopped')
    expect((await call('POST', `/api/v1/jobs/${body.id}/cancel`)).status).toBe(409)
  })

  test('a job that joined another job’s operation only stops waiting for it', async ({ call, driver }) => {
    await newMachine(call)
    driver.delay = 300
    const first = call('PUT', '/api/v1/machines/one/start')
    await until(async () => expect((await call('GET', '/api/v1/machines/one/status')).body.status).toBe('starting'))
    const { body } = await call('PUT', '/api/v1/machines/one/start', { headers: prefer })
    await call('POST', `/api/v1/jobs/${body.id}/cancel`)
    expect(await ended(call, body.id)).toMatchObject({ state: 'failed' })
    expect(await first).toMatchObject({ status: 200, body: { operation: 'Start' } })
  })
})

describe('records', () => {
  const own = ['UPDATE_VM_STATES', 'LIST_VM', 'JOB_MANAGER_LIST_OWN', 'JOB_MANAGER_DELETE']

  test('are visible to their owner, and to users who may list and delete all', async ({ call }) => {
    await newMachine(call)
    const { body } = await call('PUT', '/api/v1/machines/one/start', { as: own, headers: prefer })
    await ended(call, body.id)
    const as = (...more: string[]) => ({ as: ['other', ...more] })
    const path = `/api/v1/jobs/${body.id}`
    expect((await call('GET', '/api/v1/jobs', as('JOB_MANAGER_LIST_OWN'))).body).toEqual([])
    expect((await call('GET', path, as('JOB_MANAGER_LIST_OWN'))).status).toBe(404)
    expect((await call('DELETE', path, as('JOB_MANAGER_DELETE'))).status).toBe(404)
    expect((await call('GET', '/api/v1/jobs', as('JOB_MANAGER_LIST'))).body).toHaveLength(1)
    expect((await call('DELETE', path, as('JOB_MANAGER_LIST', 'JOB_MANAGER_LIST_OWN'))).status).toBe(403)
    expect((await call('DELETE', path, as('JOB_MANAGER_LIST', 'JOB_MANAGER_DELETE'))).status).toBe(202)
    expect((await call('GET', path)).status).toBe(404)
    const seen = await call('GET', '/api/v1/events?types=job_manager', as('LIST_VM'))
    expect(seen.body.events).toEqual([])
  })

  test('show the result of a job to its owner and super users alone', async ({ call }) => {
    await newMachine(call)
    const { body } = await call('PUT', '/api/v1/machines/one/start', { as: own, headers: prefer })
    const result = { operation: 'Start' }
    expect(await ended(call, body.id)).toMatchObject({ result })
    for (const [as, sees] of [
      [own, true],
      [['other', '*'], true],
      [['other', 'JOB_MANAGER_LIST'], false],
    ] as const) {
      const shown = [
        (await call('GET', `/api/v1/jobs/${body.id}`, { as })).body,
        (await call('GET', '/api/v1/jobs', { as })).body[0],
      ]
      for (const job of shown) {
        expect(job).toMatchObject({ state: 'completed', ...(sees && { result }) })
        expect('result' in job, as.join(',')).toBe(sees)
      }
    }
  })

  test('of running jobs are not deleted; clean-up deletes the others', async ({ call, driver }) => {
    await newMachine(call)
    const done = await call('PUT', '/api/v1/machines/one/start', { headers: prefer })
    await ended(call, done.body.id)
    driver.delay = 10_000
    const { body } = await call('PUT', '/api/v1/machines/one/stop', { headers: prefer })
    expect((await call('DELETE', `/api/v1/jobs/${body.id}`)).status).toBe(409)
    expect((await call('DELETE', '/api/v1/jobs/cleanup')).body.message).toBe('1 job was deleted.')
    expect((await call('GET', '/api/v1/jobs')).body.map(({ id }: { id: string }) => id)).toEqual([body.id])
    expect((await jobMessages(call)).filter(({ message }) => message === 'JOB_DELETED')).toHaveLength(1)
    await call('POST', `/api/v1/jobs/${body.id}/cancel`)
    await ended(call, body.id)
  })

  test('are filtered by X-Filter, newest first', async ({ call }) => {
    await newMachine(call)
    for (const verb of ['start', 'stop']) {
      const { body } = await call('PUT', `/api/v1/machines/one/${verb}`, { headers: prefer })
      await ended(call, body.id)
    }
    const operations = async (headers = {}) =>
      (await call('GET', '/api/v1/jobs', { headers })).body.map((job: { job_operation: string }) => job.job_operation)
    expect(await operations()).toEqual(['stop', 'start'])
    expect(await operations({ 'x-filter': 'job_operation=^start$' })).toEqual(['start'])
  })
})

describe('after a restart', () => {
  const caller = {
    id: '00000000-0000-4000-8000-0000000000aa',
    username: 'tester',
    email: 'tester@example.test',
    roles: [],
    claims: new Set<string>(),
    superUser: false,
  }
  const request = (repeatable: boolean) => ({
    operation: 'machines/start',
    kind: { type: 'machines', operation: 'start', ...(repeatable && { repeatable: true as const }) },
    caller,
    params: { id: 'one' },
    query: undefined,
    body: undefined,
  })
  const open = async (folder: string) => {
    const store = await openStore({ folder })
    const events = await openEvents(store, { every })
    const jobs = await openJobs({ store, publish: events.publish, every, onDefect: () => {}, onEnded: () => {} })
    return { store, jobs, close: () => (events.close(), store[Symbol.asyncDispose]()) }
  }
  const forever = ({ signal }: ProgressReporter) =>
    new Promise<never>((_, reject) => signal!.addEventListener('abort', () => reject(signal!.reason)))

  test('repeatable jobs are resumed; others, those of other services’ users, and cancelled ones, fail with the reason', async () => {
    using folder = newFolder()
    const first = await open(folder.path)
    const { job: again } = await first.jobs.start(request(true), forever)
    const { job: lost } = await first.jobs.start(request(false), forever)
    const foreignCaller = { ...caller, issuer: 'https://control.example.test' }
    const { job: foreign } = await first.jobs.start({ ...request(true), caller: foreignCaller }, forever)
    const { job: cancelled } = await first.jobs.start(request(true), () => new Promise(() => {}))
    await first.jobs.cancel(cancelled.id, caller)
    // As after a kill: nothing ends the work, and the records stay as they are.
    await first.close()

    const second = await open(folder.path)
    const repeated: unknown[] = []
    const { finished } = await second.jobs.resume(async what => {
      repeated.push(what)
      return { id: 'machine' }
    })
    expect(await finished).toBe(true)
    await until(() => expect(second.jobs.runningCount()).toBe(0))
    expect(repeated).toEqual([
      { operation: 'machines/start', params: { id: 'one' }, query: undefined, body: undefined, owner: caller.id },
    ])
    expect(await second.jobs.show(again.id, caller)).toMatchObject({ state: 'completed', result: { id: 'machine' } })
    const why = expect.stringContaining('decide whether to start it again')
    for (const { id } of [lost, foreign])
      expect(await second.jobs.show(id, caller)).toMatchObject({ state: 'failed', code: 503, error: why })
    expect(await second.jobs.show(cancelled.id, caller)).toMatchObject({ state: 'failed', code: 409 })
    await second.jobs.close()
    await second.close()
  })

  test('a job that the shutdown interrupted is resumed at the next start', async () => {
    using folder = newFolder()
    const first = await open(folder.path)
    const { job } = await first.jobs.start(request(true), forever)
    await first.jobs.close()
    await first.close()
    const between = await open(folder.path)
    const { finished } = await between.jobs.resume((_, work) => forever(work))
    await between.jobs.close()
    expect(await finished).toBe(false)
    await between.close()
    const second = await open(folder.path)
    await second.jobs.resume(async () => {
      throw new ServiceError('forbidden', 'Who asked for this is not a user any more.')
    })
    await until(() => expect(second.jobs.runningCount()).toBe(0))
    expect(await second.jobs.show(job.id, caller)).toMatchObject({ state: 'failed', code: 403 })
    await second.jobs.close()
    await second.close()
  })

  test('a job without progress in three attempts fails with the reason; one with progress is resumed', async () => {
    using folder = newFolder()
    /** Makes this much progress, then hangs until the service is killed. */
    const comesTo = (percent: number) => (work: ProgressReporter) => {
      work.plan([{ name: 'upload', title: 'Upload the pack', weight: 1, unit: 'percent' }])
      work.begin('upload')
      work.advance('upload', percent, 100)
      return new Promise<never>(() => {})
    }
    const reached = (jobs: Awaited<ReturnType<typeof open>>['jobs'], id: string, progress: number) =>
      until(async () => expect(await jobs.show(id, caller)).toMatchObject({ state: 'running', progress }))
    const first = await open(folder.path)
    const { job } = await first.jobs.start(request(true), comesTo(10))
    await reached(first.jobs, job.id, 10)
    await first.close()
    // The third attempt makes progress, so three more follow.
    for (const percent of [10, 5, 20, 20, 0]) {
      const next = await open(folder.path)
      await next.jobs.resume((_, work) => comesTo(percent)(work))
      await until(() => expect(next.jobs.runningCount()).toBe(1))
      await reached(next.jobs, job.id, percent < 20 && percent !== 0 ? 10 : 20)
      await next.close()
    }
    const third = await open(folder.path)
    await third.jobs.resume((_, work) => comesTo(20)(work))
    await reached(third.jobs, job.id, 20)
    await third.close()
    const last = await open(folder.path)
    await last.jobs.resume(async () => 'done')
    await until(() => expect(last.jobs.runningCount()).toBe(0))
    expect(await last.jobs.show(job.id, caller)).toMatchObject({
      state: 'failed',
      code: 504,
      error: expect.stringMatching(/resumed this job 3 times .* came no further than: Upload the pack\./),
    })
    await last.close()
  })

  test('records are stored for 30 days', async () => {
    using folder = newFolder()
    const first = await open(folder.path)
    await first.jobs.start(request(true), () => 'done')
    await until(() => expect(first.jobs.runningCount()).toBe(0))
    await first.jobs.close()
    await first.close()
    vi.useFakeTimers({ now: Date.now() + 29 * 86_400_000, toFake: ['Date'] })
    const second = await open(folder.path)
    await second.jobs.resume(async () => undefined)
    expect(await second.jobs.list(caller)).toHaveLength(1)
    vi.setSystemTime(Date.now() + 2 * 86_400_000)
    await second.jobs.resume(async () => undefined)
    expect(await second.jobs.list(caller)).toEqual([])
    vi.useRealTimers()
    await second.jobs.close()
    await second.close()
  })
})
