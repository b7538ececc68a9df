/** A value or a promise of one. A plain value is used without waiting for a microtask. */
export type MaybePromise<T> = T | Promise<T>

/** Calls `onValue` with the value: at once for a plain value, later for a promise. */
export const continueWith = <T, R>(value: MaybePromise<T>, onValue: (value: T) => MaybePromise<R>): MaybePromise<R> =>
  value instanceof Promise ? value.then(onValue) : onValue(value)

/** Runs `work`. Calls `onError` with what it throws or rejects with, and gives the result of that. */
export const attempt = <T>(work: () => MaybePromise<T>, onError: (thrown: unknown) => T): MaybePromise<T> => {
  try {
    const value = work()
    return value instanceof Promise ? value.catch(onError) : value
  } catch (thrown) {
    return onError(thrown)
  }
}
