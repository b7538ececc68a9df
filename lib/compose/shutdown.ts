import { messageOf } from '#lib/errors.ts'
import type { Log } from '#lib/platform/log.ts'
import { abortable } from '#lib/async/abortable.ts'

/** Milliseconds since the beginning of the shutdown, until which the parts of a kind have time to end. */
export const shutdownTimes = { work: 4_000, connections: 7_000, machines: 13_500, rest: 15_000, store: 16_500 } as const

/** Milliseconds that a part has after its time to give up in order: to note what it could not do. */
const grace = 1_500
/** Milliseconds for a part whose turn comes late because others did not end. */
const leastTime = 100

interface Part {
  readonly name: string
  readonly until: keyof typeof shutdownTimes
  readonly close: (deadline: AbortSignal) => unknown
}

/**
 * The parts of a service, which end in the reverse order of how they were added. A part that does not end in its time is
 * named in the log and left behind, so that those after it have theirs: the machines, and last the store.
 */
export interface Shutdown extends AsyncDisposable {
  /**
   * @param name what the log calls it
   * @param close is given the time that it has; it may throw what it could not do
   */
  add(name: string, until: keyof typeof shutdownTimes, close: (deadline: AbortSignal) => unknown): void
  /** Ends all of them. Gives whether each one has ended; never rejects. */
  end(): Promise<boolean>
  /** Leaves the parts to who calls this, who then ends them: disposing does nothing any more. */
  move(): Shutdown
}

const closePart = async ({ name, until, close }: Part, begun: number, log: Log): Promise<boolean> => {
  const left = begun + shutdownTimes[until] - performance.now()
  const patience = AbortSignal.timeout(Math.max(Math.round(left + grace), leastTime))
  try {
    await abortable(Promise.try(close, AbortSignal.timeout(Math.max(Math.round(left), 0))), patience)
    return true
  } catch (error) {
    const reason = patience.aborted ? 'it does not answer' : messageOf(error)
    log.error('The service ends without waiting for its {part} any longer: {reason}', { part: name, reason })
    return false
  }
}

/** A shutdown without parts. */
export const createShutdown = (log: Log, parts: Part[] = []): Shutdown => {
  const end = async (): Promise<boolean> => {
    const begun = performance.now()
    const ended: boolean[] = []
    // Timers of signals keep no process alive: without this one, a part that nothing is awaited of would end it half-way.
    const awake = setInterval(() => {}, grace)
    for (let part = parts.pop(); part; part = parts.pop()) ended.push(await closePart(part, begun, log))
    clearInterval(awake)
    return !ended.includes(false)
  }
  return {
    add: (name, until, close) => void parts.push({ name, until, close }),
    end,
    move: () => createShutdown(log, parts.splice(0)),
    [Symbol.asyncDispose]: async () => void (await end()),
  }
}
