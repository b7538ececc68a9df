import { ServiceError } from '#lib/errors.ts'
import type { ProgressReporter } from '#lib/async/progress.ts'
import type { MachineContext } from './context.ts'

/**
 * Deletes what the cloud-init of a stopped machine is told, which may contain passwords. Throws `conflict` for a machine that is
 * not stopped, and `not-found` for one without a seed.
 */
export const deleteSeed = async (
  context: MachineContext,
  reference: string,
  { progress }: { progress?: ProgressReporter },
): Promise<void> => {
  const view = context.inventory.find(reference)
  await context.runOperation({
    view,
    action: 'configure',
    key: 'delete cloud-init',
    chooseKind: () => 'configure',
    progress,
    async work(current) {
      // The memory of a machine that is suspended later would know a CD-ROM that is gone.
      if (current.transition === 'hotplug')
        throw new ServiceError('conflict', `${view.name} runs, so its CD-ROM cannot be taken away; stop it first.`)
      if (!(await context.driver.deleteSeed(view.id)))
        throw new ServiceError('not-found', `The cloud-init of ${view.name} is told nothing, so nothing was deleted.`)
      return current.view
    },
  })
}
