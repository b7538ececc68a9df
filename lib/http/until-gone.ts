import { ServiceError } from '#lib/errors.ts'
import type { Work } from '#lib/work.ts'
import type { Call } from './endpoint.ts'

/** The work of a call; with `cancel_on_disconnect` it is to end when the caller goes away. */
export const untilGone = ({
  work,
  query,
  signal,
}: Pick<Call, 'work' | 'signal'> & { readonly query: { readonly cancel_on_disconnect: boolean } }): Work => {
  if (!query.cancel_on_disconnect) return work
  const gone = new AbortController()
  const abort = (): void =>
    gone.abort(new ServiceError('conflict', 'Who asked for this went away, and wanted it to end then.'))
  if (signal().aborted) abort()
  signal().addEventListener('abort', abort, { once: true })
  return { ...work, signal: work.signal ? AbortSignal.any([work.signal, gone.signal]) : gone.signal }
}
