import type { WaitLimit } from '#lib/async/progress.ts'

/** Somebody who waits for their turn. */
export interface Waiter<R> {
  readonly request: R
  /** Settles as what has begun does, or rejects with why it does not begin any more. */
  readonly turn: Promise<void>
  /** Their turn has come: this has begun. */
  go(begun: Promise<void>): void
  /** Sends them away. */
  refuse(reason: Error): void
}

interface Options {
  /** What they are refused with when their time is up. */
  readonly late: () => Error
  /** Is told when they have given up. */
  readonly left: () => void
}

/** No timer of Node's is longer: about 25 days. */
const longest = 2 ** 31 - 1

/** Begins to wait, until the patience or one of the signals ends. */
export const createWaiter = <R extends { readonly signal?: AbortSignal | undefined }>(
  request: R,
  { milliseconds, signal }: WaitLimit,
  { late, left }: Options,
): Waiter<R> => {
  const { promise: turn, resolve, reject } = Promise.withResolvers<void>()
  const signals = [request.signal, signal].filter(one => one !== undefined)
  const end = (): void => {
    clearTimeout(timer)
    for (const one of signals) one.removeEventListener('abort', abort)
  }
  const refuse = (reason: Error): void => {
    end()
    reject(reason)
    left()
  }
  const abort = ({ target }: Event): void => refuse((target as AbortSignal).reason)
  const timer = setTimeout(() => refuse(late()), Math.min(milliseconds, longest))
  for (const one of signals) one.addEventListener('abort', abort)
  return {
    request,
    turn,
    go(begun) {
      end()
      resolve(begun)
    },
    refuse,
  }
}
