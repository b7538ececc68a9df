import type { StableState } from '../driver.ts'
import type { PersistedState, JournaledOperation } from './operation-journal.ts'
import { crashProblem } from './status.ts'

/** What the recovery has to do with a running QEMU after the service was killed. */
export type RecoveryAction = 'end suspended' | 'undo suspend' | 'end pause' | 'finish resume' | 'none'

/**
 * Chooses the recovery of a running QEMU with this `status`. Saved memory is valid only with the persisted state `suspended`, which is
 * written when the memory is complete and before QEMU quits. An earlier suspend is rolled back.
 */
export const chooseRecoveryAction = (
  status: string,
  persisted: PersistedState | undefined,
  operation: JournaledOperation | undefined,
): RecoveryAction => {
  if (persisted?.state === 'suspended') return status === 'postmigrate' ? 'end suspended' : 'finish resume'
  if (operation && ['snapshot', 'fork', 'merge'].includes(operation.verb)) return 'end pause'
  return operation?.verb === 'suspend' ? 'undo suspend' : 'none'
}

/** Returns the state of a machine whose QEMU has exited, from its journal and from whether its saved memory exists. */
export const determineStateAfterExit = (
  persisted: PersistedState | undefined,
  operation: JournaledOperation | undefined,
  hasMemory: boolean,
): { readonly state: StableState; readonly problem?: string | undefined } => {
  if (persisted?.state === 'suspended' && hasMemory) return { state: 'suspended', problem: persisted.problem }
  if (operation?.verb === 'stop' || operation?.verb === 'restart') return { state: 'stopped' }
  const ended = persisted === undefined || persisted.state === 'stopped'
  return { state: 'stopped', problem: ended ? persisted?.problem : crashProblem }
}
