import { ServiceError } from '#lib/errors.ts'
import type { Principal } from '#lib/access/principal.ts'
import type { Consistency, MachineView } from '#lib/hypervisor/driver.ts'
import { mayEnter } from './access.ts'
import type { MachineContext } from './context.ts'
import { noProgress, type ProgressReporter } from '#lib/async/progress.ts'
import { findReadableSnapshot, requireSnapshots } from './snapshots/find.ts'

/** Options of a clone. */
export interface CloneOptions {
  readonly linked: boolean
  /** The id or name of the snapshot that is cloned; the present machine when left out. */
  readonly snapshot?: string | undefined
  /** Who makes the clone; nobody when left out. */
  readonly maker?: Principal
  readonly progress?: ProgressReporter
  /** Receives what the disks of the clone have, if the source runs. */
  readonly onConsistency?: (consistency: Consistency) => void
}

/**
 * Returns the owner of a clone. It is who makes it, if they may enter the source: a clone has the content of its source, and its
 * owner may read that. Else the clone belongs to the owner of the source.
 */
export const findOwner = (maker: Principal | undefined, source: MachineView): string | undefined =>
  maker && (mayEnter(maker, source) ? maker.id : source.definition.owner)

/**
 * Clones a machine or a snapshot of it under a new name, with a new MAC address. With `linked` the clone shares the disks of its
 * source. The id of the job becomes the id of the clone, so a job that is resumed after a kill finds the clone that it has made.
 * Returns the id of the clone. Throws `conflict` (state, name in use, busy), `not-found` for an unknown snapshot, `forbidden` if the
 * maker may not see it, and `unsupported` if the driver has no linked clones or no snapshots.
 */
export const cloneMachine = async (
  context: MachineContext,
  reference: string,
  name: string,
  { linked, snapshot: wanted, maker, progress = noProgress, onConsistency = () => {} }: CloneOptions,
): Promise<string> => {
  const { driver, inventory, names } = context
  const { id = crypto.randomUUID() } = progress
  if (inventory.listViews().some(view => view.id === id)) return id
  const source = inventory.find(reference)
  const snapshot = wanted === undefined ? undefined : findReadableSnapshot(context, source, wanted, maker)
  if (linked && !driver.features.linkedClone)
    throw new ServiceError('unsupported', `Linked clones are unsupported by the ${driver.kind} driver; clone in full.`)
  using _reservation = names.reserve(name)
  progress.plan([{ name: 'copy', title: linked ? 'Share the disks' : 'Copy the disks', weight: 100, unit: 'percent' }])
  await context.runOperation({
    view: source,
    action: snapshot ? 'copy snapshot' : 'clone',
    // Each clone is a machine of its own, so a second call never joins the first.
    key: `clone ${crypto.randomUUID()}`,
    chooseKind: () => 'clone',
    progress,
    async work(_, deadline) {
      progress.begin('copy')
      const onProgress = (fraction: number): void => progress.advance('copy', Math.round(fraction * 1000) / 10, 100)
      const options = { id, owner: findOwner(maker, source), linked, deadline, onProgress, onConsistency }
      inventory.update(
        snapshot
          ? await requireSnapshots(driver).clone(source.id, snapshot.id, name, options)
          : await driver.clone(source.id, name, options),
      )
      progress.end('copy')
      return (await driver.get(source.id)) ?? source
    },
  })
  return id
}
