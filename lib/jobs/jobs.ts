import { mayCall } from '#lib/auth/access.ts'
import type { Principal } from '#lib/auth/principal.ts'
import { ServiceError } from '#lib/errors.ts'
import type { Tell } from '#lib/events/events.ts'
import type { JobRequest } from '#lib/http/job-started.ts'
import type { Store, Write } from '#lib/storage/store.ts'
import type { Work } from '#lib/work.ts'
import { createRunner, type Runner } from './runner.ts'
import { type Job, StoredJob } from './schemas.ts'

/** What to do again after a restart, and for whom. */
export interface Repeated {
  readonly operation: string
  readonly params: unknown
  readonly query: unknown
  readonly body: unknown
  readonly owner: string
}

/**
 * Long work with a durable record. Jobs of others are there for holders of JOB_MANAGER_LIST alone, and without their
 * results: what somebody was answered is not for all who may look after jobs.
 */
export interface Jobs {
  /** Begins the work and gives its job at once, and what comes of it. Throws `unavailable` for somebody who has too many under way. */
  begin(
    request: JobRequest,
    work: (work: Work) => unknown,
  ): Promise<{ readonly job: Job; readonly result: Promise<unknown> }>
  /** Newest first. */
  list(caller: Principal): Promise<readonly Job[]>
  /** Throws `not-found`. */
  show(id: string, caller: Principal): Promise<Job>
  /** Tells the work to give up; it ends in a stable state. Throws `not-found`, `forbidden`, `conflict` when it has ended. */
  cancel(id: string, caller: Principal): Promise<Job>
  /** Deletes the record of a job that has ended. Throws `not-found`, `forbidden`, `conflict`. */
  remove(id: string, caller: Principal): Promise<void>
  /** Deletes the records of all jobs that have ended and that the caller may delete; gives how many. */
  clean(caller: Principal): Promise<number>
  /** How many are under way. */
  underWay(): number
  /**
   * Goes on with what the last process left, or fails it with the reason. Gives, once all of that is under way, when it is
   * over: with false where the service ended first and some of it is left for the next start.
   */
  resume(repeat: (what: Repeated, work: Work) => Promise<unknown>): Promise<{ readonly over: Promise<boolean> }>
  /**
   * Takes no new jobs, tells each to give up and settles when none is under way; what fails from now on because the service
   * ends goes on at its next start.
   */
  close(): Promise<void>
}

interface Options {
  readonly store: Store
  readonly tell: Tell
  /** Is told of a defect: a record that could not be written, work that failed for no reason of its own. */
  readonly failed: (error: unknown) => void
  /** Is told of each job that has ended. */
  readonly done: (what: { readonly operation: string; readonly outcome: string }) => void
}

const day = 86_400_000
const keptFor = 30 * day
const mostKept = 10_000
const mostRunning = 100
const cleanEvery = 3_600_000

const hasEnded = ({ state }: Job): boolean => state === 'completed' || state === 'failed'
const shown = (stored: StoredJob & { readonly rev?: number }): Job => {
  const { request: _, cancelled: __, rev: ___, ...job } = stored
  return job
}
const withoutResult = (whole: Job): Job => {
  const { result: _, ...job } = whole
  return job
}

/** Opens the jobs of a store. */
export const openJobs = async ({ store, tell, failed, done }: Options): Promise<Jobs> => {
  const records = store.collection('jobs', StoredJob)
  const running = new Map<string, Runner>()
  /** Owners of jobs whose records are being made. */
  const beginning = new Set<{ readonly owner: string; readonly over: Promise<void> }>()
  let stopping = false

  const told = (what: string, job: StoredJob): Write =>
    tell({
      type: 'job_manager',
      message: `JOB_${what}`,
      body: withoutResult(shown(job)),
      audience: { users: [job.owner], claims: ['JOB_MANAGER_LIST'] },
    })
  const removal = (job: StoredJob): readonly Write[] => [records.remove({ id: job.id }), told('DELETED', job)]
  const forget = async (jobs: readonly StoredJob[]): Promise<void> => {
    if (jobs.length > 0) await store.commit(jobs.flatMap(removal))
  }
  const ended = async (): Promise<readonly StoredJob[]> =>
    (await records.list()).filter(hasEnded).toSorted((a, b) => (a.updated_at < b.updated_at ? 1 : -1))
  const forgetOld = async (): Promise<void> => {
    const oldest = new Date(Date.now() - keptFor).toISOString()
    await forget((await ended()).filter(({ updated_at: at }, place) => at < oldest || place >= mostKept))
  }
  const cleaning = setInterval(() => void forgetOld().catch(failed), cleanEvery)
  cleaning.unref()

  const maySee = ({ owner }: Job, caller: Principal): boolean =>
    owner === caller.id || !mayCall({ claims: ['JOB_MANAGER_LIST'] }, caller)
  const shownTo =
    (caller: Principal) =>
    (job: StoredJob): Job =>
      caller.superUser || job.owner === caller.id ? shown(job) : withoutResult(shown(job))
  const mayEnd = ({ owner }: Job, caller: Principal): boolean =>
    owner === caller.id || !mayCall({ claims: ['JOB_MANAGER_LIST', 'JOB_MANAGER_DELETE'] }, caller)
  const find = async (id: string, caller: Principal): Promise<StoredJob> => {
    const job = await records.get(id.toLowerCase())
    if (!job || !maySee(job, caller)) throw new ServiceError('not-found', `There is no job ${id}.`)
    return job
  }
  const findToEnd = async (id: string, caller: Principal): Promise<StoredJob> => {
    const job = await find(id, caller)
    if (!mayEnd(job, caller))
      throw new ServiceError('forbidden', 'This job is somebody else’s, and needs the claim JOB_MANAGER_DELETE.')
    return job
  }

  const run = (job: StoredJob, work: (work: Work) => unknown): Runner => {
    const runner = createRunner({
      job,
      work,
      failed,
      // A job that goes on at the next start is left as it is.
      leave: error => stopping && job.request !== undefined && error.fault === 'unavailable',
      keep: (next, messages) =>
        records
          .update(
            job.id,
            () => next,
            messages.map(message => told(message, next)),
          )
          .catch(failed),
    })
    running.set(job.id, runner)
    const end = async (): Promise<void> => {
      const outcome = await runner.ended
      running.delete(job.id)
      if (outcome) done({ operation: `${job.job_type}/${job.job_operation}`, outcome })
    }
    void end()
    return runner
  }

  return {
    async begin({ operation, kind, caller, params, query, body }, work) {
      if (stopping) throw new ServiceError('unavailable', 'The service is shutting down; try again when it is back.')
      const owners = [...[...running.values()].map(({ owner }) => owner), ...[...beginning].map(({ owner }) => owner)]
      const theirs = owners.filter(owner => owner === caller.id).length
      if (theirs >= mostRunning)
        throw new ServiceError('unavailable', `You have ${theirs} jobs under way, which is all that one user can have.`)
      const now = new Date().toISOString()
      const job: StoredJob = {
        id: crypto.randomUUID(),
        owner: caller.id,
        owner_name: caller.username,
        owner_email: caller.email,
        state: 'pending',
        progress: 0,
        job_type: kind.type,
        job_operation: kind.operation,
        ...(kind.record !== undefined && { result_record_type: kind.record }),
        // With the address: the same through a catalog manager is not the same.
        ...(kind.about && { about: { ...Object(params), ...kind.about(body as never) } }),
        created_at: now,
        updated_at: now,
        ...(kind.repeatable && { request: { operation, params, query, body } }),
      }
      const { promise: over, resolve: begun } = Promise.withResolvers<void>()
      const entry = { owner: caller.id, over }
      beginning.add(entry)
      try {
        await store.commit([records.put(job), told('CREATED', job)])
      } finally {
        beginning.delete(entry)
        begun()
      }
      return { job: shown(job), result: run(job, work).result }
    },
    async list(caller) {
      const all = (await records.list()).filter(job => maySee(job, caller))
      return all.toSorted((a, b) => (a.created_at < b.created_at ? 1 : -1)).map(shownTo(caller))
    },
    show: async (id, caller) => shownTo(caller)(await find(id, caller)),
    async cancel(id, caller) {
      const job = await findToEnd(id, caller)
      const runner = running.get(job.id)
      if (hasEnded(job) || !runner) throw new ServiceError('conflict', `The job has ended already: ${job.state}.`)
      return shownTo(caller)(await runner.cancel(`The job was cancelled by ${caller.username}.`))
    },
    async remove(id, caller) {
      const job = await findToEnd(id, caller)
      if (!hasEnded(job)) throw new ServiceError('conflict', 'The job is under way; cancel it first.')
      await forget([job])
    },
    async clean(caller) {
      const jobs = (await ended()).filter(job => mayEnd(job, caller))
      await forget(jobs)
      return jobs.length
    },
    underWay: () => running.size,
    async resume(repeat) {
      const resumed = (await records.list())
        .filter(job => !hasEnded(job))
        .map(job => {
          const { request, cancelled, owner } = job
          const lost =
            'The service ended while this was under way; it is not done again by itself. Look how things are, then decide.'
          return run(job, work => {
            if (cancelled !== undefined) throw new ServiceError('conflict', cancelled)
            if (!request) throw new ServiceError('unavailable', lost)
            return repeat(
              { operation: request.operation, params: request.params, query: request.query, body: request.body, owner },
              work,
            )
          })
        })
      await forgetOld()
      const ends = Promise.all(resumed.map(({ ended: end }) => end))
      return { over: ends.then(outcomes => !outcomes.includes(undefined)) }
    },
    async close() {
      stopping = true
      clearInterval(cleaning)
      const giveUp = (): void => running.values().forEach(runner => runner.abort())
      giveUp()
      // One that is on record by then runs already, and is told as well.
      await Promise.all([...beginning].map(({ over }) => over))
      giveUp()
      await Promise.all([...running.values()].map(({ ended: end }) => end))
    },
  }
}
