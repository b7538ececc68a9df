import type { MachineView, StableState } from '../driver.ts'
import { advanceClock } from '../uptime.ts'

/** What changes with the state of a machine. */
export interface StateChange {
  readonly booted?: boolean
  readonly problem?: string
  readonly stateFile?: string
}

/** Returns the view of a machine in another state, which begins now. */
export const changeState = (
  view: MachineView,
  state: StableState,
  { booted = false, problem, stateFile }: StateChange,
): MachineView => {
  const { problem: _problem, stateFile: _stateFile, guest, addresses, ...unchanged } = view
  const clock = advanceClock(view, view.state, state, Date.now(), booted)
  // What the agent has told is true until the guest ends or boots again.
  const keepsGuest = state !== 'stopped' && !booted
  return {
    ...unchanged,
    ...clock,
    addresses: keepsGuest ? addresses : [],
    ...(keepsGuest && guest && { guest }),
    ...(problem !== undefined && { problem }),
    ...(stateFile !== undefined && { stateFile }),
    state,
  }
}
