import { findMissingRight } from '#lib/access/requirement.ts'
import type { Principal } from '#lib/access/principal.ts'
import { ServiceError } from '#lib/errors.ts'
import type { Publish } from '#lib/events/events.ts'
import type { JobRequest } from '#lib/calls/accepted-job.ts'
import type { Store, Write } from '#lib/storage/store.ts'
import { abortable } from '#lib/async/abortable.ts'
import type { Every } from '#lib/async/every.ts'
import type { ProgressReporter } from '#lib/async/progress.ts'
import { countAttempt, formatNoProgress, maxAttempts } from './attempts.ts'
import { createResultLimit, dropResult } from './result-limit.ts'
import { runJob, type RunningJob } from './running-job.ts'
import { type Job, StoredJob } from './schemas.ts'

/** The request of a job that is resumed after a restart. */
export interface ReplayRequest {
  readonly operation: string
  readonly params: unknown
  readonly query: unknown
  readonly body: unknown
  readonly owner: string
  /** The API key that the owner used, if any. The resumed job has the present rights of that key. */
  readonly apiKeyId: string | undefined
}

/**
 * Long work with a stored record. Holders of JOB_MANAGER_LIST see the jobs of other users without their results, which are for
 * the owner. Of another user's catalog job they see the progress and the state alone, because it may be about a manifest that
 * they may not see.
 */
export interface Jobs {
  /** Starts the work. Gives its job and a promise of the result. Throws `unavailable` when the caller has too many jobs. */
  start(
    request: JobRequest,
    work: (progress: ProgressReporter) => unknown,
  ): Promise<{ readonly job: Job; readonly result: Promise<unknown> }>
  /** Lists the jobs that the caller may see, newest first. */
  list(caller: Principal): Promise<readonly Job[]>
  /** Gives a job that the caller may see. Throws `not-found`. */
  show(id: string, caller: Principal): Promise<Job>
  /** Aborts the work, which ends in a stable state. Throws `not-found`, `forbidden`, and `conflict` when the job has ended. */
  cancel(id: string, caller: Principal): Promise<Job>
  /** Deletes the record of a job that has ended. Throws `not-found`, `forbidden`, and `conflict` while it is running. */
  remove(id: string, caller: Principal): Promise<void>
  /** Deletes the records of all jobs that have ended and that the caller may delete. Gives their number. */
  removeEnded(caller: Principal): Promise<number>
  /** The number of running jobs. */
  runningCount(): number
  /**
   * Resumes the jobs that the last process left, or fails them with the reason. Settles when all are running. `finished`
   * settles when all have ended: true, or false when the service ends first and some are left for the next start.
   */
  resume(
    replay: (request: ReplayRequest, progress: ProgressReporter) => Promise<unknown>,
  ): Promise<{ readonly finished: Promise<boolean> }>
  /**
   * Accepts no new jobs, aborts all and settles when none is running. Jobs that can be repeated are resumed at the next start.
   * Throws `timeout` at the deadline with the names of the jobs that have not ended; the next start resumes or fails them.
   */
  close(deadline?: AbortSignal): Promise<void>
}

interface Options {
  readonly store: Store
  readonly publish: Publish
  readonly every: Every
  /** Called with each defect: a record that could not be written, or an unexpected error of the work. */
  readonly onDefect: (error: unknown) => void
  /** Called when a job has ended. */
  readonly onEnded: (job: { readonly operation: string; readonly outcome: string }) => void
}

const day = 86_400_000
const retention = 30 * day
const maxStored = 10_000
const maxRunningPerUser = 100
const cleanUpInterval = 3_600_000

const hasEnded = ({ state }: Job): boolean => state === 'completed' || state === 'failed'
const toJob = (stored: StoredJob & { readonly rev?: number }): Job => {
  const { request: _request, cancelled: _cancelled, reached: _reached, tries: _tries, rev: _rev, ...job } = stored
  return job
}
const omitResult = (whole: Job): Job => {
  const { result: _, ...job } = whole
  return job
}
/** Whether a job may be about a manifest, which other users may not be allowed to see. */
const isCatalogJob = ({ job_type: type }: Job): boolean => type === 'catalog'
/** A job as users other than its owner see it. */
const createViewForOthers = (whole: Job): Job => {
  if (!isCatalogJob(whole)) return omitResult(whole)
  const { about: _, message: __, error: ___, result: ____, result_record_id: _____, ...job } = whole
  const { steps } = job
  return { ...job, ...(steps && { steps: steps.map(({ message: _text, error: _why, ...step }) => step) }) }
}

const interruptedMessage =
  'The service ended while this job was running, and does not repeat such a job. Check the present state, then decide whether to start it again.'

/** Opens the jobs of a store. Removes old records from time to time, until it is closed. */
export const openJobs = async ({ store, publish, every, onDefect, onEnded }: Options): Promise<Jobs> => {
  const records = store.collection('jobs', StoredJob)
  const running = new Map<string, RunningJob>()
  /** Jobs whose first record is being written. */
  const starting = new Set<{ readonly owner: string; readonly finished: Promise<void> }>()
  let stopping = false
  const resultLimit = createResultLimit()
  for (const job of (await records.list()).toSorted((a, b) => (a.updated_at < b.updated_at ? -1 : 1)))
    resultLimit.add(job)

  const createEvent = (change: string, job: StoredJob): Write =>
    publish({
      type: 'job_manager',
      message: `JOB_${change}`,
      body: omitResult(toJob(job)),
      audience: { users: [job.owner], claims: isCatalogJob(job) ? [] : ['JOB_MANAGER_LIST'] },
    })
  const prepareRemoval = (job: StoredJob): readonly Write[] => [
    records.remove({ id: job.id }),
    createEvent('DELETED', job),
  ]
  const removeAll = async (jobs: readonly StoredJob[]): Promise<void> => {
    if (jobs.length > 0) await store.commit(jobs.flatMap(prepareRemoval))
    jobs.forEach(resultLimit.remove)
  }
  const listEnded = async (): Promise<readonly StoredJob[]> =>
    (await records.list()).filter(hasEnded).toSorted((a, b) => (a.updated_at < b.updated_at ? 1 : -1))
  const removeOld = async (): Promise<void> => {
    const oldest = new Date(Date.now() - retention).toISOString()
    await removeAll((await listEnded()).filter(({ updated_at: at }, index) => at < oldest || index >= maxStored))
  }
  const cleanUpTimer = every(cleanUpInterval, () => void removeOld().catch(onDefect))

  const maySee = ({ owner }: Job, caller: Principal): boolean =>
    owner === caller.id || !findMissingRight({ claims: ['JOB_MANAGER_LIST'] }, caller)
  const viewFor =
    (caller: Principal) =>
    (job: StoredJob): Job =>
      caller.superUser || job.owner === caller.id ? toJob(job) : createViewForOthers(toJob(job))
  const mayControl = ({ owner }: Job, caller: Principal): boolean =>
    owner === caller.id || !findMissingRight({ claims: ['JOB_MANAGER_LIST', 'JOB_MANAGER_DELETE'] }, caller)
  const find = async (id: string, caller: Principal): Promise<StoredJob> => {
    const job = await records.get(id.toLowerCase())
    if (!job || !maySee(job, caller)) throw new ServiceError('not-found', `There is no job ${id}.`)
    return job
  }
  const findControllable = async (id: string, caller: Principal): Promise<StoredJob> => {
    const job = await find(id, caller)
    if (!mayControl(job, caller))
      throw new ServiceError(
        'forbidden',
        'This is the job of another user; only users with the claim JOB_MANAGER_DELETE can change it.',
      )
    return job
  }

  const save = async (next: StoredJob, eventNames: readonly string[]): Promise<void> => {
    const events = eventNames.map(name => createEvent(name, next))
    // Finished work must not be repeated because the disk was full when it ended.
    await records.update(next.id, () => next, events, { essential: hasEnded(next) })
    for (const id of resultLimit.add(next)) if (records.getSync(id)) await records.update(id, dropResult)
  }
  const run = (job: StoredJob, work: (progress: ProgressReporter) => unknown): RunningJob => {
    const runningJob = runJob({
      job,
      work,
      onDefect,
      // A job that the next start resumes keeps its record.
      isResumable: error => stopping && job.request !== undefined && error.fault === 'unavailable',
      save: (next, eventNames) => save(next, eventNames).catch(onDefect),
    })
    running.set(job.id, runningJob)
    const onJobEnded = async (): Promise<void> => {
      const outcome = await runningJob.ended
      running.delete(job.id)
      if (outcome) onEnded({ operation: `${job.job_type}/${job.job_operation}`, outcome })
    }
    void onJobEnded()
    return runningJob
  }

  let closing: Promise<void> | undefined
  const abortAll = async (): Promise<void> => {
    const abortRunning = (): void => running.values().forEach(runningJob => runningJob.abort())
    abortRunning()
    // Jobs whose first record was being written are running now, and are aborted too.
    await Promise.all([...starting].map(({ finished }) => finished))
    abortRunning()
    await Promise.all([...running.values()].map(({ ended }) => ended))
  }

  return {
    async start({ operation, kind, caller, params, query, body }, work) {
      if (stopping) throw new ServiceError('unavailable', 'The service is shutting down; try again when it is back.')
      const owners = [...[...running.values()].map(({ owner }) => owner), ...[...starting].map(({ owner }) => owner)]
      const ownCount = owners.filter(owner => owner === caller.id).length
      if (ownCount >= maxRunningPerUser)
        throw new ServiceError(
          'unavailable',
          `You have ${ownCount} running jobs, which is the maximum for one user. Wait until some have ended, or cancel them.`,
        )
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
        // The parameters of the path belong to it, because the same body for another catalog manager is another request.
        ...(kind.summarize && { about: { ...Object(params), ...kind.summarize(body as never) } }),
        created_at: now,
        updated_at: now,
        // The rights of a user of another service are known for this request alone, so the next start could not repeat it.
        ...(kind.repeatable &&
          caller.issuer === undefined && { request: { operation, api_key_id: caller.apiKeyId, params, query, body } }),
      }
      const { promise: finished, resolve: finish } = Promise.withResolvers<void>()
      const entry = { owner: caller.id, finished }
      starting.add(entry)
      try {
        await store.commit([records.put(job), createEvent('CREATED', job)])
      } finally {
        starting.delete(entry)
        finish()
      }
      return { job: toJob(job), result: run(job, work).result }
    },
    async list(caller) {
      const all = (await records.list()).filter(job => maySee(job, caller))
      return all.toSorted((a, b) => (a.created_at < b.created_at ? 1 : -1)).map(viewFor(caller))
    },
    show: async (id, caller) => viewFor(caller)(await find(id, caller)),
    async cancel(id, caller) {
      const job = await findControllable(id, caller)
      const runningJob = running.get(job.id)
      if (hasEnded(job) || !runningJob) throw new ServiceError('conflict', `The job has ended already: ${job.state}.`)
      return viewFor(caller)(await runningJob.cancel(`The job was cancelled by ${caller.username}.`))
    },
    async remove(id, caller) {
      const job = await findControllable(id, caller)
      if (!hasEnded(job)) throw new ServiceError('conflict', 'The job is running; cancel it first.')
      await removeAll([job])
    },
    async removeEnded(caller) {
      const jobs = (await listEnded()).filter(job => mayControl(job, caller))
      await removeAll(jobs)
      return jobs.length
    },
    runningCount: () => running.size,
    async resume(replay) {
      const resumed = (await records.list())
        .filter(job => !hasEnded(job))
        .map(found => {
          const job = countAttempt(found)
          const { request, cancelled, owner } = job
          return run(job, progress => {
            if (cancelled !== undefined) throw new ServiceError('conflict', cancelled)
            if (!request) throw new ServiceError('unavailable', interruptedMessage)
            if (job.tries.count > maxAttempts) throw new ServiceError('timeout', formatNoProgress(job))
            const { operation, api_key_id: apiKeyId, params, query, body } = request
            return replay({ operation, params, query, body, owner, apiKeyId }, progress)
          })
        })
      await removeOld()
      const ends = Promise.all(resumed.map(({ ended }) => ended))
      return { finished: ends.then(outcomes => !outcomes.includes(undefined)) }
    },
    async close(deadline) {
      stopping = true
      cleanUpTimer[Symbol.dispose]()
      closing ??= abortAll()
      await abortable(closing, deadline).catch(() => {
        const remaining = [...running.values()]
        for (const runningJob of remaining) runningJob.abandon()
        throw new ServiceError(
          'timeout',
          `Jobs did not end after they were aborted: ${remaining.map(({ name }) => name).join(', ')}.`,
        )
      })
    },
  }
}
