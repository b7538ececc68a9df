import type { Principal } from '#lib/access/principal.ts'

interface Options {
  /** Authenticates the caller again. Throws when the session has ended. */
  readonly reauthenticate: () => Promise<Principal>
  /** Throws when the caller may not wait any more. */
  readonly authorize: (caller: Principal) => void
}

/** Milliseconds between two checks. */
const checkInterval = 1_000

/** Checks the rights of a caller who waits. The signal is aborted, with what was thrown, when the caller has lost them. */
export const watchRights = ({ reauthenticate, authorize }: Options): { readonly signal: AbortSignal } & Disposable => {
  const ended = new AbortController()
  const check = async (): Promise<void> => {
    try {
      authorize(await reauthenticate())
    } catch (error) {
      ended.abort(error)
    }
  }
  const timer = setInterval(() => void check(), checkInterval)
  timer.unref()
  return { signal: ended.signal, [Symbol.dispose]: () => clearInterval(timer) }
}
