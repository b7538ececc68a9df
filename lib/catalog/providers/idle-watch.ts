/** Ends a request of which nothing moves. */
export interface IdleWatch {
  /** Aborted when nothing has moved for too long. */
  readonly signal: AbortSignal
  /** From now on it is the server's turn; `times` as long as usual. */
  begin(times?: number): void
  /** From now on it is ours: somebody who reads slowly is no idle server. */
  rest(): void
  end(): void
  /** The body of a reply, watched while somebody waits for its next bytes; `failure` says what its errors mean. */
  stream(body: ReadableStream<Uint8Array> | null, failure: (error: unknown) => unknown): ReadableStream<Uint8Array>
}

/** `limit`: milliseconds. */
export const createIdleWatch = (limit: number): IdleWatch => {
  const controller = new AbortController()
  let timer: NodeJS.Timeout | undefined
  let ended = false
  const rest = (): void => clearTimeout(timer)
  const begin = (times = 1): void => {
    rest()
    if (!ended) timer = setTimeout(() => controller.abort(), limit * times)
  }
  const end = (): void => {
    ended = true
    rest()
  }
  return {
    signal: controller.signal,
    begin,
    rest,
    end,
    stream(body, failure) {
      const reader = body?.getReader()
      return new ReadableStream<Uint8Array>(
        {
          async pull(target) {
            begin()
            try {
              const next = await reader?.read()
              rest()
              if (next && !next.done) return target.enqueue(next.value)
              end()
              target.close()
            } catch (error) {
              end()
              target.error(failure(error))
            }
          },
          async cancel(reason) {
            end()
            await reader?.cancel(reason)
          },
        },
        { highWaterMark: 0 },
      )
    },
  }
}
