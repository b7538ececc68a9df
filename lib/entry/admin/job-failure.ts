import { ServiceError } from '#lib/errors.ts'
import { toFault } from '#lib/calls/statuses.ts'
import type { Job } from '#lib/jobs/schemas.ts'

/** Converts a failed job to the error of its request. `fallback` is the message if the job has none. */
export const toJobError = ({ code = 500, message, error }: Job, fallback: string): ServiceError =>
  // The message says who cancelled the job, which helps more than the error that this caused.
  new ServiceError(toFault(code), message ?? error ?? fallback)
