import type { ProgressReporter } from '#lib/async/progress.ts'
import type { RequestContext } from './context.ts'
import { toStatus, toServiceError } from '#lib/calls/statuses.ts'
import type { Outcome } from './outcome.ts'

/** Records calls that changed something and calls that were refused. */
export interface Audit {
  /** Throws `unavailable` when the coming call could not be recorded. The caller must not run the call then. */
  admit(essential: boolean): void
  record(context: RequestContext, outcome: Pick<Outcome, 'requestId' | 'status' | 'value' | 'error'>): Promise<void>
}

/** Wraps the handler of a job so that the audit records its end. The reply of the request only says that the job started. */
export const withAudit =
  (audit: Audit | undefined, context: RequestContext, perform: (progress: ProgressReporter) => unknown) =>
  async (progress: ProgressReporter): Promise<unknown> => {
    const { essential, status } = context.requireRoute().endpoint
    const requestId = progress.id ?? ''
    let value: unknown
    try {
      audit?.admit(essential === true)
      value = await perform(progress)
    } catch (thrown) {
      const error = toServiceError(thrown, requestId)
      await audit?.record(context, { requestId, status: toStatus(error.fault), value: undefined, error })
      throw thrown
    }
    await audit?.record(context, { requestId, status: status ?? 200, value, error: undefined })
    return value
  }
