import { ServiceError } from '#lib/errors.ts'
import type { MachineContext } from './context.ts'
import { limits } from './states.ts'
import { unfollowed, type Work } from '#lib/work.ts'

/**
 * Copies a machine under a new name, with an id and a MAC of its own; `linked` shares the disks that there are.
 * Gives the clone's id. Throws `conflict` (state, name, busy) and `unsupported` where the driver has no linked clones.
 */
export const cloneMachine = async (
  context: MachineContext,
  reference: string,
  name: string,
  { linked, work = unfollowed }: { linked: boolean; work?: Work },
): Promise<string> => {
  const { driver, inventory, names, operations } = context
  const view = inventory.find(reference)
  if (linked && !driver.features.linkedClone)
    throw new ServiceError('unsupported', `Linked clones are unsupported by the ${driver.kind} driver; clone in full.`)
  if (!operations.shown(view.id)) context.cell(view, 'clone')
  work.plan([{ name: 'copy', title: linked ? 'Share the disks' : 'Copy the disks', weight: 100, unit: 'percent' }])
  let id: string | undefined
  await context.operate({
    view,
    // Each clone is a machine of its own, so a second call never joins the first.
    key: `clone ${crypto.randomUUID()}`,
    kind: 'clone',
    limit: limits.clone,
    signal: work.signal,
    work: async deadline => {
      using _name = names.reserve(name)
      work.begin('copy')
      const progress = (part: number): void => work.advance('copy', Math.round(part * 1000) / 10, 100)
      const clone = await driver.clone(view.id, name, { linked, deadline, progress })
      inventory.accept(clone)
      work.end('copy')
      id = clone.id
      return (await driver.get(view.id)) ?? view
    },
  })
  return id!
}
