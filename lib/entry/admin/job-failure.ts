import { ServiceError } from '#lib/errors.ts'
import { faultOf } from '#lib/calls/statuses.ts'
import type { Job } from '#lib/jobs/schemas.ts'

/** What a job has failed with, as the request itself would have: with the same fault, and in its words or these. */
export const jobFailure = ({ code = 500, message, error }: Job, words: string): ServiceError =>
  // Who cancelled it says more than what that broke off.
  new ServiceError(faultOf(code), message ?? error ?? words)
