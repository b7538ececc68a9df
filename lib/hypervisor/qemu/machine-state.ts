import { join } from 'node:path'
import { messageOf } from '#lib/errors.ts'
import type { Logger } from '#lib/platform/log.ts'
import type { Definition } from '../definition.ts'
import type { MachineView, DriverEvent, ChangeCause, StableState } from '../driver.ts'
import type { GuestReport } from '../agent/watch-guest.ts'
import { createStoppedView } from '../machine-views.ts'
import { advanceClock } from '../uptime.ts'
import { fileNames } from './file-names.ts'
import type { PersistedState, OperationJournal } from './operation-journal.ts'

interface StateChange {
  readonly booted?: boolean
  readonly problem?: string | undefined
  /** Set if the change is reported as an event: no request asked for it. */
  readonly cause?: ChangeCause | undefined
}

/** The present view of a machine, and its persisted state for recovery after the service was killed. */
export interface MachineState {
  view(): MachineView
  /** Returns the view of the machine in another state, without changing it. */
  viewIn(state: StableState, options?: StateChange): MachineView
  /** Replaces the view and persists nothing. */
  setView(view: MachineView): void
  /** Changes the view to a state that the machine already has, and persists it. Logs a failed write and does not throw. */
  changeState(state: StableState, options?: StateChange): Promise<void>
  /** Changes what is known of the guest, and reports it. */
  setGuest(report: GuestReport): void
  /** Changes which network cards have lost their end on the host, and reports it. */
  setDisconnectedCards(cards: readonly string[]): void
  /** Changes whether a process waits for the next fork, and reports it. */
  setForkReady(ready: boolean): void
  /** Logs an error that must not fail the operation. */
  warn(error: unknown): void
}

interface Options {
  readonly definition: Definition
  readonly home: string
  readonly journal: OperationJournal
  readonly report: (event: DriverEvent) => void
  readonly log: Logger
}

export const toPersistedState = ({ state, since, ranFor, problem }: MachineView): PersistedState => ({
  state,
  since,
  ranFor,
  ...(problem !== undefined && { problem }),
})

export const createMachineState = ({ definition, home, journal, report, log }: Options): MachineState => {
  const { id } = definition
  let view = createStoppedView(definition, home)
  const warn = (error: unknown): void => log.warning('{id}: {error}', { id, error: messageOf(error) })
  const viewIn: MachineState['viewIn'] = (state, { booted = false, problem } = {}) => {
    const { problem: _, stateFile: __, guest, addresses, disconnectedCards, forkReady, ...rest } = view
    // What the agent has told is true until the guest ends or boots again.
    const keepsGuest = (state === 'running' || state === 'paused') && !booted
    return {
      ...rest,
      addresses: keepsGuest ? addresses : [],
      ...(keepsGuest && guest && { guest }),
      ...((state === 'running' || state === 'paused') && disconnectedCards && { disconnectedCards }),
      ...((state === 'running' || state === 'paused') && forkReady && { forkReady }),
      ...advanceClock(view, view.state, state, Date.now(), booted),
      state,
      ...(problem !== undefined && { problem }),
      ...(state === 'suspended' && { stateFile: join(home, fileNames.stateFile) }),
    }
  }
  return {
    view: () => view,
    viewIn,
    setView(next) {
      view = next
    },
    async changeState(state, options = {}) {
      view = viewIn(state, options)
      try {
        await journal.writeState(toPersistedState(view))
      } catch (error) {
        warn(error)
        // The old persisted state would be taken for a crash, or for memory that can be loaded.
        if (state === 'stopped') await journal.writeState(undefined).catch(warn)
      }
      if (options.cause) report({ view, cause: options.cause })
    },
    setGuest({ facts, addresses }) {
      view = { ...view, guest: facts, addresses }
      report({ view, cause: 'guest' })
    },
    setDisconnectedCards(cards) {
      const { disconnectedCards: before = [], ...rest } = view
      if (before.join() === cards.join()) return
      view = { ...rest, ...(cards.length > 0 && { disconnectedCards: cards }) }
      report({ view, cause: 'host' })
    },
    setForkReady(ready) {
      const { forkReady: before = false, ...rest } = view
      if (before === ready) return
      view = { ...rest, ...(ready && { forkReady: true as const }) }
      report({ view, cause: 'host' })
    },
    warn,
  }
}
