/**
 * Settles as the promise does, but rejects with the signal's reason as soon as the signal is aborted or when it already was.
 * It does not stop the work behind the promise.
 */
export const abortable = async <T>(result: Promise<T>, signal: AbortSignal | undefined): Promise<T> => {
  if (!signal) return result
  const { promise: aborted, reject } = Promise.withResolvers<never>()
  const onAbort = (): void => reject(signal.reason)
  if (signal.aborted) onAbort()
  signal.addEventListener('abort', onAbort)
  try {
    return await Promise.race([aborted, result])
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}

/** Milliseconds that work has to react to an abort. */
export const abortGracePeriod = 5_000

/**
 * Settles as `work` does. When `work` has not reacted to the abort of `signal` after the grace period, this rejects with
 * what `toError` makes of the signal's reason, and the work runs on unobserved. Use it only for work that reads, or that
 * writes where nobody else reads.
 */
export const abortableAfterGrace = async <T>(
  signal: AbortSignal | undefined,
  work: Promise<T>,
  {
    gracePeriod = abortGracePeriod,
    toError = reason => reason,
  }: { gracePeriod?: number; toError?: (reason: unknown) => unknown } = {},
): Promise<T> => {
  const graceEnded = new AbortController()
  let timer: NodeJS.Timeout | undefined
  const startGracePeriod = (): void =>
    void (timer = setTimeout(() => graceEnded.abort(toError(signal?.reason)), gracePeriod))
  if (signal?.aborted) startGracePeriod()
  else signal?.addEventListener('abort', startGracePeriod)
  try {
    return await abortable(work, graceEnded.signal)
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', startGracePeriod)
  }
}
