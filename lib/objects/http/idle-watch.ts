import type { RequestBody, TrackedBody } from './request-body.ts'

/** Watches a request for the time in which nothing comes or goes. */
export interface IdleWatch {
  /** Waits for something from the server, and reports when that takes too long. */
  wait<T>(promise: Promise<T>): Promise<T>
  /** Gives the body with its progress observed. After its end, the reply may take `replyTimeout` milliseconds. */
  watchBody(source: TrackedBody, replyTimeout: number): RequestBody
}

/** @param onIdle is called with the milliseconds of silence */
export const createIdleWatch = (idleTimeout: number, onIdle: (milliseconds: number) => void): IdleWatch => {
  let isWaitingForSource = (): boolean => false
  let limit = idleTimeout
  let timer: ReturnType<typeof setTimeout> | undefined

  const restart = (): void => {
    clearTimeout(timer)
    timer = setTimeout(() => {
      // A slow source is not the server's fault.
      if (isWaitingForSource()) restart()
      else onIdle(limit)
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
