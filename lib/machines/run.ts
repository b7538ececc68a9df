import type { Verb } from '#lib/hypervisor/driver.ts'
import type { ProgressReporter } from '#lib/async/progress.ts'
import type { MachineContext } from './context.ts'
import type { OperationResult } from './schemas.ts'

/** `start` as the wire writes it: `Start`. */
const capital = <V extends Verb>(verb: V): Capitalize<V> => `${verb[0]!.toUpperCase()}${verb.slice(1)}` as Capitalize<V>

/**
 * Does one of the seven verbs and answers when its state is reached.
 * `force` counts for `stop` alone: it ends whatever runs on the machine, then cuts the power.
 * Throws `not-found`, `conflict` (wrong state, busy), `timeout`, and what the driver refuses with.
 */
export const runVerb = async (
  context: MachineContext,
  reference: string,
  verb: Verb,
  { force = false, stopLimit, work }: { force?: boolean; stopLimit?: number; work?: ProgressReporter } = {},
): Promise<OperationResult> => {
  const view = context.inventory.find(reference)
  const forced = force && verb === 'stop'
  const action = forced ? 'stop force' : verb
  await context.operate({
    view,
    action,
    key: action,
    kind: cell => (cell === 'resume' ? 'resume' : verb),
    limit: verb === 'stop' ? stopLimit : undefined,
    takesOver: forced,
    ...(work && { follow: work }),
    work: (now, deadline) =>
      context.driver.run(view.id, now.cell === 'resume' ? 'resume' : verb, { force: forced, deadline }),
  })
  return { id: view.id, operation: capital(verb), status: 'Success' }
}
