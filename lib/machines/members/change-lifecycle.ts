import { noProgress } from '#lib/async/progress.ts'
import type { Definition } from '#lib/hypervisor/definition.ts'
import type { MachineContext } from '../context.ts'

/** Milliseconds that a change waits for a machine that is busy. */
const busyTimeout = 10_000

/**
 * Changes what the service alone does with a machine, and to whom it belongs. Throws `not-found`, `conflict` for a machine that
 * stays busy or has no readable definition, and the refusals of the driver.
 */
export const changeLifecycle = async (
  context: MachineContext,
  id: string,
  change: (definition: Definition) => Definition,
): Promise<void> =>
  context.runOperation({
    view: context.inventory.find(id),
    action: 'configure lifecycle',
    key: `change lifecycle ${crypto.randomUUID()}`,
    chooseKind: () => 'configure',
    progress: { ...noProgress, waitLimit: { milliseconds: busyTimeout } },
    work: ({ view }) => context.driver.configure(view.id, change(view.definition)),
  })
