import { messageOf } from '#lib/errors.ts'
import type { Logger } from '#lib/platform/log.ts'
import { abortable } from '#lib/async/abortable.ts'

/** The time limit of each kind of parts, in milliseconds since the shutdown began. */
export const shutdownTimes = { work: 4_000, connections: 7_000, machines: 13_500, rest: 15_000, store: 16_500 } as const

/** Milliseconds after its time limit in which a part can record what it could not finish. */
const gracePeriod = 1_500
/** Milliseconds for a part whose time limit has passed already, because earlier parts took too long. */
const minimumTime = 100

interface Part {
  readonly name: string
  readonly kind: keyof typeof shutdownTimes
  readonly close: (deadline: AbortSignal) => unknown
}

/**
 * Closes the parts of a service in the reverse order of their addition. A part that does not close in time is logged and left
 * behind, so that the following parts have their time: above all the machines, and last the store.
 */
export interface Shutdown extends AsyncDisposable {
  /**
   * Adds a part.
   * @param name its name in the log
   * @param close closes the part until the deadline; it may throw what it could not finish
   */
  add(name: string, kind: keyof typeof shutdownTimes, close: (deadline: AbortSignal) => unknown): void
  /** Closes all parts. Returns true if every part closed in time; never rejects. */
  end(): Promise<boolean>
  /** Moves the parts into a new shutdown. Disposing of this one then closes nothing. */
  move(): Shutdown
}

/** Closes a part of a shutdown that began at `startedAt`. Returns false if that failed or took too long. */
const closePart = async ({ name, kind, close }: Part, startedAt: number, log: Logger): Promise<boolean> => {
  const remaining = startedAt + shutdownTimes[kind] - performance.now()
  const waitLimit = AbortSignal.timeout(Math.max(Math.round(remaining + gracePeriod), minimumTime))
  try {
    await abortable(Promise.try(close, AbortSignal.timeout(Math.max(Math.round(remaining), 0))), waitLimit)
    return true
  } catch (error) {
    const reason = waitLimit.aborted ? 'it does not answer' : messageOf(error)
    log.error('The service ends without waiting for its {part} any longer: {reason}', { part: name, reason })
    return false
  }
}

/** Creates a shutdown, by default without parts. */
export const createShutdown = (log: Logger, parts: Part[] = []): Shutdown => {
  const end = async (): Promise<boolean> => {
    const startedAt = performance.now()
    const results: boolean[] = []
    // The timers of AbortSignals do not keep the process alive. Without this timer the process could exit while a part closes.
    const keepAlive = setInterval(() => {}, gracePeriod)
    for (let part = parts.pop(); part; part = parts.pop()) results.push(await closePart(part, startedAt, log))
    clearInterval(keepAlive)
    return !results.includes(false)
  }
  return {
    add: (name, kind, close) => void parts.push({ name, kind, close }),
    end,
    move: () => createShutdown(log, parts.splice(0)),
    [Symbol.asyncDispose]: async () => void (await end()),
  }
}
