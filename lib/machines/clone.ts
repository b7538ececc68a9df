import { ServiceError } from '#lib/errors.ts'
import type { MachineContext } from './context.ts'
import { noProgress, type ProgressReporter } from '#lib/async/progress.ts'

/**
 * Clones a machine under a new name, with a new MAC address. With `linked` the clone shares the disks of its source. The id of
 * the job becomes the id of the clone, so a job that is resumed after a kill finds the clone that it has made. Returns the id of
 * the clone. Throws `conflict` (state, name in use, busy) and `unsupported` if the driver has no linked clones.
 */
export const cloneMachine = async (
  context: MachineContext,
  reference: string,
  name: string,
  { linked, progress = noProgress }: { linked: boolean; progress?: ProgressReporter },
): Promise<string> => {
  const { driver, inventory, names } = context
  const { id = crypto.randomUUID() } = progress
  if (inventory.listViews().some(view => view.id === id)) return id
  const source = inventory.find(reference)
  if (linked && !driver.features.linkedClone)
    throw new ServiceError('unsupported', `Linked clones are unsupported by the ${driver.kind} driver; clone in full.`)
  using _reservation = names.reserve(name)
  progress.plan([{ name: 'copy', title: linked ? 'Share the disks' : 'Copy the disks', weight: 100, unit: 'percent' }])
  await context.runOperation({
    view: source,
    action: 'clone',
    // Each clone is a machine of its own, so a second call never joins the first.
    key: `clone ${crypto.randomUUID()}`,
    chooseKind: () => 'clone',
    progress,
    async work(_, deadline) {
      progress.begin('copy')
      const onProgress = (fraction: number): void => progress.advance('copy', Math.round(fraction * 1000) / 10, 100)
      inventory.update(await driver.clone(source.id, name, { id, linked, deadline, onProgress }))
      progress.end('copy')
      return (await driver.get(source.id)) ?? source
    },
  })
  return id
}
