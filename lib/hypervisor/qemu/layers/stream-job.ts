import * as z from 'zod'
import { ServiceError } from '#lib/errors.ts'
import type { ProcessControl } from '../process-control.ts'
import type { Qmp } from '../qmp.ts'

/** Jobs of QEMU with such a name merge layers. */
const namePrefix = 'merge-'
/** Milliseconds in which a job must end that was told to. */
const cancelTimeout = 10_000

const JobEvent = z.object({ id: z.string().optional(), device: z.string().optional(), error: z.string().optional() })
const Jobs = z.array(z.object({ id: z.string() }))

/** A job of QEMU that copies the content of layers into the image above them. */
export interface StreamJob extends AsyncDisposable {
  /** Resolves when all is copied. The image still builds on the layers. Throws `no-space` and `upstream`. */
  readonly copied: Promise<void>
  /** Has the image build on the new base. Everything that was copied must be durable before. */
  finish(): Promise<void>
}

const createError = (reason: string): ServiceError => {
  const text = reason.slice(0, 500)
  return /no space left/i.test(text)
    ? new ServiceError('no-space', `The disk of the host is full: ${text}`)
    : new ServiceError('upstream', `QEMU did not merge the layers of a disk: ${text}`)
}

interface Stream {
  /** The node of the image. */
  readonly node: string
  /** The node of the new base, and the path that the image names it by. */
  readonly base: string
  readonly basePath: string
}

/**
 * Has QEMU copy what is between an image and its new base into the image, while the guest runs. Disposing ends the job: if it was not
 * finished, the image builds on what it did before.
 */
export const startStreamJob = async (
  { qmp, subscribe }: { readonly qmp: Qmp; readonly subscribe: ProcessControl['subscribe'] },
  { node, base, basePath }: Stream,
): Promise<StreamJob> => {
  const id = `${namePrefix}${crypto.randomUUID().slice(0, 8)}`
  const copied = Promise.withResolvers<void>()
  const ended = Promise.withResolvers<void>()
  for (const { promise } of [copied, ended]) promise.catch(() => {})
  const fail = (error: unknown): void => {
    copied.reject(error)
    ended.reject(error)
  }
  const subscription = subscribe(({ event, data }) => {
    const job = JobEvent.safeParse(data).data
    if (job?.id !== id && job?.device !== id) return
    if (event === 'BLOCK_JOB_PENDING') copied.resolve()
    else if (event === 'BLOCK_JOB_CANCELLED') fail(createError('the job was cancelled'))
    else if (event === 'BLOCK_JOB_COMPLETED') {
      if (job.error === undefined) ended.resolve()
      else fail(createError(job.error))
    }
  })
  void qmp.closed.then(fail)
  try {
    const layers = { device: node, 'base-node': base, 'backing-file': basePath }
    await qmp.execute('block-stream', { 'job-id': id, ...layers, 'auto-finalize': false })
  } catch (error) {
    subscription[Symbol.dispose]()
    throw error
  }
  let isFinished = false
  return {
    copied: copied.promise,
    async finish() {
      isFinished = true
      await qmp.execute('job-finalize', { id })
      await ended.promise
    },
    async [Symbol.asyncDispose]() {
      if (!isFinished) {
        await qmp.execute('job-cancel', { id }).catch(() => {})
        await ended.promise.catch(() => {})
      }
      subscription[Symbol.dispose]()
    },
  }
}

/** Ends the jobs that a killed service has begun. The images build on what they did before. Throws `upstream`. */
export const endStreamJobs = async (qmp: Qmp): Promise<void> => {
  for (const end = Date.now() + cancelTimeout; ;) {
    const jobs = (await qmp.query('query-jobs', Jobs)).filter(({ id }) => id.startsWith(namePrefix))
    if (jobs.length === 0) return
    if (Date.now() > end) throw createError('it goes on after it was told to stop')
    for (const { id } of jobs) await qmp.execute('job-cancel', { id }).catch(() => {})
  }
}
