import { ServiceError } from '#lib/errors.ts'
import type { ProgressReporter } from '#lib/async/progress.ts'
import type { RequestContext } from './context.ts'

/** The progress reporter of a request. With `cancel_on_disconnect` its signal is also aborted when the client disconnects. */
export const cancelOnDisconnect = ({
  progress,
  query,
  signal,
}: Pick<RequestContext, 'progress' | 'signal'> & {
  readonly query: { readonly cancel_on_disconnect: boolean }
}): ProgressReporter => {
  if (!query.cancel_on_disconnect) return progress
  const disconnected = new AbortController()
  const abort = (): void =>
    disconnected.abort(
      new ServiceError('conflict', 'The client disconnected, and the request was to be cancelled then.'),
    )
  if (signal.aborted) abort()
  signal.addEventListener('abort', abort, { once: true })
  return {
    ...progress,
    signal: progress.signal ? AbortSignal.any([progress.signal, disconnected.signal]) : disconnected.signal,
  }
}
