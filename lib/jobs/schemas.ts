import * as z from 'zod'

const stepStates = ['pending', 'running', 'completed', 'failed', 'skipped'] as const

export const JobStep = z.object({
  name: z.string(),
  display_name: z.string(),
  weight: z.number(),
  has_percentage: z.boolean(),
  state: z.enum(stepStates),
  current_percentage: z.number(),
  value: z.number().optional(),
  total: z.number().optional(),
  unit: z.enum(['bytes', 'percent']).optional(),
  rate: z.number().optional().meta({ description: 'Units per second since the step began' }),
  eta: z.string().optional().meta({ description: 'Remaining time, such as 1m 20s' }),
  message: z.string().optional().meta({ description: 'The outcome, or why the step was skipped' }),
  error: z.string().optional(),
})
export type JobStep = z.infer<typeof JobStep>

export const jobStates = ['pending', 'running', 'completed', 'failed'] as const

/** A job as clients see it. */
export const Job = z
  .object({
    id: z.uuid(),
    owner: z.string(),
    owner_name: z.string(),
    owner_email: z.string(),
    state: z.enum(jobStates),
    progress: z.int().min(0).max(100),
    job_type: z.string().meta({ description: 'The area: machines, catalog' }),
    job_operation: z.string().meta({ description: 'The operation: clone, push, pull, …' }),
    about: z
      .record(z.string(), z.string())
      .optional()
      .meta({ description: 'The main parameters of the request; for its owner and super users' }),
    message: z.string().optional(),
    steps: z.array(JobStep).optional(),
    result: z.unknown().optional().meta({
      description: 'The body that the request would have been answered with; for its owner and super users',
    }),
    result_record_id: z.string().optional(),
    result_record_type: z.string().optional(),
    error: z.string().optional(),
    code: z.int().optional().meta({ description: 'The status that the request would have failed with' }),
    created_at: z.string(),
    updated_at: z.string(),
  })
  .meta({ id: 'Job' })
export type Job = z.infer<typeof Job>

/** A job as it is stored. */
export const StoredJob = Job.extend({
  /** The request to repeat after a restart; undefined when the job has ended, or cannot be repeated. */
  request: z
    .object({
      operation: z.string(),
      /** The API key of the request, whose rights may be narrower than its owner's. */
      api_key_id: z.string().optional(),
      params: z.unknown().optional(),
      query: z.unknown().optional(),
      body: z.unknown().optional(),
    })
    .optional(),
  /** The most progress of all attempts, 0 to 100. */
  reached: z.number().optional(),
  /** The number of attempts since the job last made progress, and its progress then. */
  tries: z.object({ count: z.int(), from: z.number() }).optional(),
  /** Why the job was cancelled. It is stored so that a restart does not resume the job. */
  cancelled: z.string().optional(),
})
export type StoredJob = z.infer<typeof StoredJob>

export const JobReference = z.object({ id: z.string().min(1) })
