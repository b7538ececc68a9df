import { VmhostError } from './error.ts'

const longestBackOff = 10_000
/** Seconds. What asks for a longer pause is for the caller to decide. */
const longestPause = 30

/** Milliseconds before the next try. They double, and differ, so that not all clients come back at the same moment. */
export const backOff = (failures: number): number =>
  Math.min(200 * 2 ** failures, longestBackOff) * (0.5 + Math.random() / 2)

/** Lets a time pass. Rejects with the reason of the signal as soon as it aborts. */
export const pause = (milliseconds: number, signal?: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    signal?.throwIfAborted()
    const stop = (): void => {
      clearTimeout(timer)
      reject(signal?.reason as Error)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop)
      resolve()
    }, milliseconds)
    signal?.addEventListener('abort', stop)
  })

/**
 * Whether the same request may succeed later. With 429 and 503 the service did nothing; a read can also be repeated after
 * a failure behind the service or in front of it.
 */
const mayPass = (status: number, isRead: boolean): boolean =>
  status === 429 || status === 503 || (isRead && (status === 502 || status === 504))

/** Throws what will not pass: a refusal, or the reason of the signal. Returns after a lost connection. */
export const throwUnlessPassing = (thrown: unknown, signal: AbortSignal | undefined): void => {
  signal?.throwIfAborted()
  if (thrown instanceof VmhostError && !mayPass(thrown.status, true)) throw thrown
}

interface Repetition {
  readonly retries: number
  readonly isRead: boolean
  readonly signal: AbortSignal | undefined
}

/** Sends until there is a response that is not expected to become another one, at most once and `retries` times more. */
export const repeat = async (
  send: () => Promise<Response>,
  { retries, isRead, signal }: Repetition,
): Promise<Response> => {
  for (let failures = 0; ; failures++) {
    const isLast = failures >= retries
    let milliseconds = backOff(failures)
    try {
      const response = await send()
      const seconds = Number(response.headers.get('Retry-After'))
      if (isLast || !mayPass(response.status, isRead) || seconds > longestPause) return response
      if (seconds > 0) milliseconds = seconds * 1000
      await response.body?.cancel()
    } catch (error) {
      if (isLast) throw error
      signal?.throwIfAborted()
    }
    await pause(milliseconds, signal)
  }
}
