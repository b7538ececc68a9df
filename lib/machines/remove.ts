import { ServiceError } from '#lib/errors.ts'
import type { ProgressReporter } from '#lib/async/progress.ts'
import type { MachineContext } from './context.ts'

/**
 * Deletes a machine. With `force` it preempts running operations and stops the machine first. Throws `conflict` if the machine
 * runs and `force` is not set, and in any case if linked clones use its disks: the message names them.
 */
export const removeMachine = async (
  context: MachineContext,
  reference: string,
  { force, progress }: { force: boolean; progress?: ProgressReporter },
): Promise<void> => {
  const { driver, inventory } = context
  const view = inventory.find(reference)
  const action = force ? 'delete force' : 'delete'
  const assertNoLinkedClones = (): void => {
    const clones = inventory.listViews().filter(({ definition }) => definition.base === view.id)
    if (clones.length === 0) return
    const names = clones.map(({ name }) => name).join(', ')
    throw new ServiceError('conflict', `The linked clones ${names} use the disks of ${view.name}; delete those first.`)
  }
  assertNoLinkedClones()
  await context.runOperation({
    view,
    action,
    key: action,
    chooseKind: () => 'delete',
    isForced: force,
    progress,
    async work({ transition }, deadline) {
      assertNoLinkedClones()
      if (transition === 'stop first') await driver.run(view.id, 'stop', { force: true, deadline })
      await driver.remove(view.id)
      return undefined
    },
  })
}
