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
  rate: z.number().optional().meta({ description: 'Units a second, since the step began' }),
  eta: z.string().optional().meta({ description: 'Time that is left, as 1m 20s' }),
  message: z.string().optional().meta({ description: 'What came of it, or why it was skipped' }),
  error: z.string().optional(),
})
export type JobStep = z.infer<typeof JobStep>

export const jobStates = ['pending', 'running', 'completed', 'failed'] as const

/** A job as it is shown (the wire's names). */
export const Job = z
  .object({
    id: z.uuid(),
    owner: z.string(),
    owner_name: z.string(),
    owner_email: z.string(),
    state: z.enum(jobStates),
    progress: z.int().min(0).max(100),
    job_type: z.string().meta({ description: 'What the job is about: machines, catalog' }),
    job_operation: z.string().meta({ description: 'What is done: clone, push, pull, …' }),
    about: z
      .record(z.string(), z.string())
      .optional()
      .meta({ description: 'What was asked for, as far as it is shown' }),
    message: z.string().optional(),
    steps: z.array(JobStep).optional(),
    result: z.unknown().optional().meta({
      description: 'What the request would have been answered, once completed; for its owner and super users',
    }),
    result_record_id: z.string().optional(),
    result_record_type: z.string().optional(),
    error: z.string().optional(),
    code: z.int().optional().meta({ description: 'The status that the request would have been refused with' }),
    created_at: z.string(),
    updated_at: z.string(),
  })
  .meta({ id: 'Job' })
export type Job = z.infer<typeof Job>

/** A job as it is kept. */
export const StoredJob = Job.extend({
  /** What to do again after a restart; not there when the job has ended, or cannot be done again. */
  request: z
    .object({
      operation: z.string(),
      params: z.unknown().optional(),
      query: z.unknown().optional(),
      body: z.unknown().optional(),
    })
    .optional(),
  /** Why the job is to end: kept, so that it does not go on after a restart. */
  cancelled: z.string().optional(),
})
export type StoredJob = z.infer<typeof StoredJob>

export const JobReference = z.object({ id: z.string().min(1) })
