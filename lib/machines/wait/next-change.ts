/** Lets a waiting call sleep until something has changed. A change in between is not lost. */
export interface Changes {
  readonly notify: () => void
  /** Resolves after the next change, or at once if there was one since the last call, or when the signal is aborted. */
  next(signal: AbortSignal): Promise<void>
}

export const createChanges = (): Changes => {
  let isChanged = false
  let wake = (): void => {}
  return {
    notify() {
      isChanged = true
      wake()
    },
    async next(signal) {
      if (!isChanged && !signal.aborted) {
        const { promise, resolve } = Promise.withResolvers<void>()
        wake = resolve
        signal.addEventListener('abort', wake)
        await promise
        signal.removeEventListener('abort', wake)
      }
      isChanged = false
    },
  }
}
