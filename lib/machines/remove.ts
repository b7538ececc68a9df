import { ServiceError } from '#lib/errors.ts'
import type { MachineContext } from './context.ts'
import { limits } from './states.ts'

/**
 * Deletes a machine; `force` stops it first, whatever it does. Throws `conflict` while it runs (without force), and
 * always when linked clones build on its disks: those are named.
 */
export const removeMachine = async (
  context: MachineContext,
  reference: string,
  { force }: { force: boolean },
): Promise<void> => {
  const { driver, inventory, operations } = context
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
  if (!operations.shown(view.id)) context.cell(view, action)
  await context.operate({
    view,
    key: action,
    kind: 'delete',
    limit: limits.delete,
    takesOver: force,
    work: async deadline => {
      refuseWithClones()
      if (context.cell(inventory.find(view.id), action) === 'stop first')
        await driver.run(view.id, 'stop', { force: true, deadline })
      await driver.remove(view.id)
      return undefined
    },
  })
}
