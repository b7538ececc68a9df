import { setTimeout as wait } from 'node:timers/promises'
import { waitAtMost } from '#lib/async/time-limit.ts'
import { type Companion, startCompanion } from './processes.ts'
import type { OwnProgram } from './program-parts.ts'

/** A program of ours that runs beside the service, and is started again when it ends. */
export interface Supervised extends AsyncDisposable {
  /** Settles when it runs; starts it the first time. Rejects with what kept it from running. */
  running(): Promise<void>
}

interface Options {
  readonly program: OwnProgram
  /** Settles when a process that was just started can be used. */
  readonly ready: (companion: Companion) => Promise<void>
  /** Is told of each end that was not asked for. */
  readonly ended: (why: string) => void
  /** Asks the process to end. */
  readonly end: () => void
}

const firstDelay = 100
const longestDelay = 10_000
/** A process that lived this long was well: the next one is not held back. */
const goodLife = 30_000
const readyWithin = 10_000
const endWithin = 3_000

/** Keeps one process running from its first use on, each start after a failure later than the one before. */
export const supervise = ({ program, ready, ended, end }: Options): Supervised => {
  let current: Promise<void> | undefined
  let companion: Companion | undefined
  let delay = 0
  const closing = new AbortController()

  const start = async (): Promise<void> => {
    await wait(delay, undefined, { signal: closing.signal })
    const begun = Date.now()
    const started = startCompanion(program)
    companion = started
    void started.ended.then(why => {
      companion = undefined
      if (closing.signal.aborted) return
      delay = Date.now() - begun > goodLife ? firstDelay : Math.min(Math.max(delay * 2, firstDelay), longestDelay)
      ended(why)
      void begin()
    })
    const failed = async (): Promise<never> => {
      throw new Error(await started.ended)
    }
    const timer = setTimeout(() => started.kill(), readyWithin)
    try {
      await Promise.race([ready(started), failed()])
    } finally {
      clearTimeout(timer)
    }
  }
  const begin = () => {
    const starting = start()
    current = starting
    // Who waits for it hears of it; the next start comes by itself.
    starting.catch(() => {})
    return starting
  }

  return {
    running() {
      return current ?? begin()
    },
    async [Symbol.asyncDispose]() {
      closing.abort()
      if (!companion) return
      end()
      await waitAtMost(companion.ended, endWithin)
      companion?.kill()
    },
  }
}
