import { createIdleError } from './fetcher.ts'
import type { RequestBody, TrackedBody } from './request-body.ts'

/** Watches a request for the time in which nothing comes or goes. */
export interface IdleWatch {
  /** Waits for something from the server. Throws a `TransientError` when that takes too long. */
  wait<T>(promise: Promise<T>): Promise<T>
  /** Gives the body with its progress observed. After its end, the reply may take `replyTimeout` milliseconds. */
  watchBody(source: TrackedBody, replyTimeout: number): RequestBody
}

/** @param abort ends the request, so that what is waited for fails */
export const createIdleWatch = (host: string, idleTimeout: number, abort: () => void): IdleWatch => {
  let idleError: Error | undefined
  let isWaitingForSource = (): boolean => false
  let limit = idleTimeout
  let timer: ReturnType<typeof setTimeout> | undefined

  const restart = (): void => {
    clearTimeout(timer)
    timer = setTimeout(() => {
      // A slow source is not the server's fault.
      if (isWaitingForSource()) return restart()
      idleError = createIdleError(host, limit)
      abort()
    }, limit)
  }
  /** Counts traffic while something is awaited. */
  const touch = (): void => {
    if (timer !== undefined) restart()
  }

  return {
    async wait(promise) {
      restart()
      try {
        return await promise
      } catch (error) {
        // The runtime may throw another error than the reason of the abort.
        throw idleError ?? error
      } finally {
        clearTimeout(timer)
        timer = undefined
        // The next wait is for bytes that the server has ready.
        limit = idleTimeout
      }
    },
    watchBody(source, replyTimeout) {
      ;({ isWaitingForSource } = source)
      return {
        size: source.body.size,
        async *open() {
          for await (const chunk of source.body.open()) {
            touch()
            yield chunk
          }
          limit = replyTimeout
          touch()
        },
      }
    },
  }
}
