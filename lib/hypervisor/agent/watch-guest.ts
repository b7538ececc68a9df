import { setTimeout as wait } from 'node:timers/promises'
import type { Address, GuestFacts } from '../driver.ts'
import type { Agent } from './agent.ts'
import { readAddresses, readGuestFacts } from './guest-facts.ts'

/** What the agent of a guest tells about it. */
export interface GuestReport {
  readonly facts: GuestFacts
  readonly addresses: readonly Address[]
}

interface Options {
  /** True while the guest runs, so that its agent can answer. */
  readonly isRunning: () => boolean
  /** Called with each report that differs from the one before. */
  readonly onReport: (report: GuestReport) => void
}

/** Milliseconds until the second reading of the addresses, and the longest between two. Each wait is twice the one before. */
const delays = [1_000, 60_000] as const

/**
 * Reads what the agent tells, at once and then ever more seldom: often while a guest boots and gets its addresses, later once a
 * minute. Ends with the connection of the agent.
 */
export const watchGuest = (agent: Agent, { isRunning, onReport }: Options): void => {
  const ended = new AbortController()
  void agent.closed.then(() => ended.abort())
  const { signal } = ended
  let facts: GuestFacts | undefined
  let last = ''

  const read = async (): Promise<readonly Address[]> => {
    facts ??= await readGuestFacts(agent)
    const addresses = await readAddresses(agent)
    const report = { facts, addresses }
    const text = JSON.stringify(report)
    if (text !== last && !signal.aborted) onReport(report)
    last = text
    return addresses
  }
  const watch = async (): Promise<void> => {
    const [shortest, longest] = delays
    for (let delay: number = shortest; !signal.aborted;) {
      // A guest that does not answer now is asked again later, as one that has no address yet.
      const addresses = isRunning() ? await read().catch(() => []) : []
      delay = addresses.length > 0 ? longest : Math.min(2 * delay, longest)
      // Spread, so that the guests of a host that has started are not all asked in the same moment.
      await wait(delay * (0.75 + Math.random() / 2), undefined, { signal, ref: false }).catch(() => {})
    }
  }
  void watch()
}
