/** Gives what `work` gives, or rejects with the reason of `deadline` as soon as that aborts. The work is not ended. */
export const within = async <T>(deadline: AbortSignal, work: Promise<T>): Promise<T> => {
  const { promise, reject } = Promise.withResolvers<never>()
  const abort = (): void => reject(deadline.reason)
  if (deadline.aborted) abort()
  deadline.addEventListener('abort', abort)
  try {
    return await Promise.race([work, promise])
  } finally {
    deadline.removeEventListener('abort', abort)
  }
}
