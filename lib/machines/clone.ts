import { ServiceError } from '#lib/errors.ts'
import type { MachineContext } from './context.ts'
import { noProgress, type ProgressReporter } from '#lib/async/progress.ts'

/**
 * Copies a machine under a new name, which is taken from the beginning, with an id and a MAC of its own; `linked` shares the
 * disks that there are. It has the id of the work: work that comes again after the service was killed finds what it had made.
 * Gives the clone's id. Throws `conflict` (state, name, busy) and `unsupported` where the driver has no linked clones.
 */
export const cloneMachine = async (
  context: MachineContext,
  reference: string,
  name: string,
  { linked, work = noProgress }: { linked: boolean; work?: ProgressReporter },
): Promise<string> => {
  const { driver, inventory, names } = context
  const { id = crypto.randomUUID() } = work
  if (inventory.all().some(made => made.id === id)) return id
  const view = inventory.find(reference)
  if (linked && !driver.features.linkedClone)
    throw new ServiceError('unsupported', `Linked clones are unsupported by the ${driver.kind} driver; clone in full.`)
  using _name = names.reserve(name)
  work.plan([{ name: 'copy', title: linked ? 'Share the disks' : 'Copy the disks', weight: 100, unit: 'percent' }])
  await context.operate({
    view,
    action: 'clone',
    // Each clone is a machine of its own, so a second call never joins the first.
    key: `clone ${crypto.randomUUID()}`,
    kind: () => 'clone',
    follow: work,
    async work(_, deadline) {
      work.begin('copy')
      const onProgress = (part: number): void => work.advance('copy', Math.round(part * 1000) / 10, 100)
      const clone = await driver.clone(view.id, name, { id, linked, deadline, onProgress })
      inventory.accept(clone)
      work.end('copy')
      return (await driver.get(view.id)) ?? view
    },
  })
  return id
}
