/** Does what is of one key, so many at once and no more. Throws the reason of the signal for who waits no longer. */
export interface AtOnce {
  /** Whether the next one has to wait. */
  isFull(key: string): boolean
  do<T>(key: string, work: () => Promise<T>, signal?: AbortSignal): Promise<T>
}

interface Line {
  running: number
  readonly waiting: Set<() => void>
}

const turnIn = ({ waiting }: Line, signal: AbortSignal | undefined): Promise<void> =>
  new Promise((resolve, reject) => {
    signal?.throwIfAborted()
    const stop = (): void => {
      waiting.delete(go)
      reject(signal!.reason)
    }
    const go = (): void => {
      signal?.removeEventListener('abort', stop)
      resolve()
    }
    waiting.add(go)
    signal?.addEventListener('abort', stop, { once: true })
  })

export const createAtOnce = (most: number): AtOnce => {
  const lines = new Map<string, Line>()
  return {
    isFull: key => (lines.get(key)?.running ?? 0) >= most,
    async do(key, work, signal) {
      const line = lines.get(key) ?? { running: 0, waiting: new Set() }
      lines.set(key, line)
      // Who ends hands the place on, so it is counted already.
      if (line.running >= most) await turnIn(line, signal)
      else line.running += 1
      try {
        return await work()
      } finally {
        const [next] = line.waiting
        if (next) {
          line.waiting.delete(next)
          next()
        } else {
          line.running -= 1
          if (line.running === 0) lines.delete(key)
        }
      }
    },
  }
}
