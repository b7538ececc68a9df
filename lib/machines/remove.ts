import { ServiceError } from '#lib/errors.ts'
import { noProgress, type ProgressReporter } from '#lib/async/progress.ts'
import type { MachineContext } from './context.ts'

/**
 * Deletes a machine; `force` stops it first, whatever it does. Throws `conflict` while it runs (without force), and
 * always when linked clones build on its disks: those are named.
 */
export const removeMachine = async (
  context: MachineContext,
  reference: string,
  { force, work = noProgress }: { force: boolean; work?: ProgressReporter },
): Promise<void> => {
  const { driver, inventory } = context
  const view = inventory.find(reference)
  const action = force ? 'delete force' : 'delete'
  const refuseWithClones = (): void => {
    const clones = inventory.all().filter(({ definition }) => definition.base === view.id)
    if (clones.length === 0) return
    const names = clones.map(({ name }) => name).join(', ')
    throw new ServiceError(
      'conflict',
      `The disks of ${view.name} carry its linked clones ${names}; delete those first.`,
    )
  }
  refuseWithClones()
  await context.operate({
    view,
    action,
    key: action,
    kind: () => 'delete',
    takesOver: force,
    follow: work,
    async work({ cell }, deadline) {
      refuseWithClones()
      if (cell === 'stop first') await driver.run(view.id, 'stop', { force: true, deadline })
      await driver.remove(view.id)
      return undefined
    },
  })
}
