import type { Events } from '#lib/events/events.ts'
import type { HypervisorDriver, MachineView } from '#lib/hypervisor/driver.ts'
import type { Feeds } from '../console/feeds.ts'
import type { TransientState } from '../states.ts'
import type { PatternSearch } from './pattern-search.ts'
import type { Watchers } from './watchers.ts'

/** The parts of the service in which waiting calls look for their conditions. */
export interface WaitContext {
  readonly driver: HypervisorDriver
  readonly watchers: Watchers
  readonly feeds: Feeds
  readonly patternSearch: PatternSearch
  readonly events: Pick<Events, 'head' | 'resolveCursor' | 'entries' | 'onCommit'>
  /** Returns the present view of a machine; undefined when it is gone. */
  readonly findView: (id: string) => MachineView | undefined
  /** The state while an operation runs, which may start or stop the machine. */
  readonly findTransientState: (id: string) => TransientState | undefined
  /** Settles when the events of all changes so far are in the log. */
  readonly flushEvents: () => Promise<void>
}

/** Why a wait has ended. */
export type WaitEnd = 'met' | 'timeout' | 'stopped' | 'gone'

export interface WaitResult {
  readonly end: WaitEnd
  /** Where the next wait for the same kind of condition goes on; undefined for conditions without a history. */
  readonly cursor?: string
  /** True if output or events after the cursor of the caller were not kept. */
  readonly gap?: true
}

/** One call that waits for a machine. */
export interface Wait {
  readonly id: string
  /** Where to begin: an offset of the serial output, or a cursor of the event log. */
  readonly since?: string | undefined
  /** Aborted when the time is over, or when nobody waits any more. */
  readonly signal: AbortSignal
  /** Why the wait ends without its condition: the machine is gone, or it is stopped and that ends this wait. */
  readonly findEnd: () => WaitEnd | undefined
}
