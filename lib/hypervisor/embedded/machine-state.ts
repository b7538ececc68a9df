import { join } from 'node:path'
import { messageOf } from '#lib/errors.ts'
import type { Logger } from '#lib/platform/log.ts'
import type { MachineView, StableState } from '../driver.ts'
import type { MachineFolders } from '../files/machine-folders.ts'
import { changeState, type StateChange } from './change-state.ts'
import { type PersistedState, writePersistedState } from './persisted-state.ts'

/** Name of the saved state of a suspended machine in its folder. */
export const stateFileName = 'state.bin'

/** The present view of a machine, and what is written of it for recovery after the service was killed. */
export interface MachineState {
  view(): MachineView
  /** Returns the view of the machine in another state, without changing it. */
  viewIn(state: StableState, change?: StateChange): MachineView
  /** Replaces the view and persists nothing. */
  setView(view: MachineView): void
  /** Persists the state of a view, which is not the present one yet. Throws as `writeJson`. */
  persist(view: MachineView, resume?: PersistedState['resume']): Promise<void>
  /** Replaces the view by one in whose state the machine already is, and persists it. Logs a failed write and does not throw. */
  record(view: MachineView): Promise<void>
  /** Logs an error that must not fail the operation. */
  warn(what: string): (error: unknown) => void
}

interface Options {
  readonly view: MachineView
  readonly folders: MachineFolders
  readonly log: Logger
}

export const createMachineState = ({ view: initialView, folders, log }: Options): MachineState => {
  let view = initialView
  const stateFile = join(initialView.home, stateFileName)
  const warn = (what: string) => (error: unknown) =>
    log.error('Machine {name}: {what}: {error}', { name: view.name, what, error: messageOf(error) })
  const persist: MachineState['persist'] = (next, resume) => writePersistedState(folders, next, resume)
  return {
    view: () => view,
    viewIn: (state, change = {}) =>
      changeState(view, state, { ...change, ...(state === 'suspended' && { stateFile }) }),
    setView(next) {
      view = next
    },
    persist,
    async record(next) {
      await persist(next).catch(warn('its state could not be written'))
      view = next
    },
    warn,
  }
}
