import type { Job } from '#lib/client/api.gen.ts'
import { VmhostError } from '#lib/client/error.ts'

/** Converts a failed job to the error of its request. `fallback` is the message if the job has none. */
export const toJobError = ({ code = 500, message, error }: Job, fallback: string): VmhostError =>
  // The message says who cancelled the job, which helps more than the error that this caused.
  new VmhostError(code, { message: message ?? error ?? fallback })
