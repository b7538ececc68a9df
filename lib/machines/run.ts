import type { MachineView, Verb } from '#lib/hypervisor/driver.ts'
import type { MachineContext } from './context.ts'
import type { OperationResult } from './schemas.ts'
import { limits } from './states.ts'

/** `start` as the wire writes it: `Start`. */
const capital = (verb: Verb): string => verb.charAt(0).toUpperCase() + verb.slice(1)

/**
 * Does one of the seven verbs and answers when its state is reached.
 * `force` counts for `stop` alone: it ends whatever runs on the machine, then cuts the power.
 * Throws `not-found`, `conflict` (wrong state, busy), `timeout`, and what the driver refuses with.
 */
export const runVerb = async (
  context: MachineContext,
  reference: string,
  verb: Verb,
  {
    force = false,
    stopLimit = limits.stop,
    signal,
  }: { force?: boolean; stopLimit?: number; signal?: AbortSignal | undefined } = {},
): Promise<OperationResult> => {
  const { driver, inventory, operations } = context
  const view = inventory.find(reference)
  const forced = force && verb === 'stop'
  const action = forced ? 'stop force' : verb
  const result = { id: view.id, operation: capital(verb), status: 'Success' }

  const perform = async (now: MachineView, deadline: AbortSignal): Promise<MachineView> => {
    const cell = context.cell(now, action)
    if (cell === 'already') return now
    return driver.run(now.id, cell === 'resume' ? 'resume' : verb, { force: forced, deadline })
  }
  // With an operation under way the state is about to change: joining, taking over or refusing is settled there.
  if (!operations.shown(view.id) && context.cell(view, action) === 'already') return result
  await context.operate({
    view,
    key: action,
    kind: verb === 'start' && (view.state === 'paused' || view.state === 'suspended') ? 'resume' : verb,
    limit: verb === 'stop' ? stopLimit : limits[verb],
    takesOver: forced,
    signal,
    work: deadline => perform(inventory.find(view.id), deadline),
  })
  return result
}
