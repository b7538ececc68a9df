import { abortableAfterGrace } from '#lib/async/abortable.ts'
import type { PreparedMachine } from '../base-driver.ts'
import type { HypervisorDriver, MachineView } from '../driver.ts'
import type { HostFileOpener } from '../files/open-machine-file.ts'
import type { DiskBases } from './disks/bases.ts'
import type { MachineDisk } from './disks/machine-disk.ts'
import { prepareClone } from './prepare-clone.ts'

/** What clones and exports need of the driver. */
export interface CloneContext {
  readonly bases: DiskBases
  readonly hostFiles: HostFileOpener
  readonly create: (machine: PreparedMachine) => Promise<MachineView>
}

/** Clones a machine, or what a snapshot of it is. Nobody writes to the open disk meanwhile. Throws as `HypervisorDriver.clone`. */
export const cloneMachine = async (
  source: MachineView,
  disk: MachineDisk | undefined,
  name: string,
  { id = crypto.randomUUID(), owner, linked, deadline, onProgress }: Parameters<HypervisorDriver['clone']>[2],
  { bases, hostFiles, create }: CloneContext,
): Promise<MachineView> => {
  await using held = linked && disk ? await bases.hold(source, disk, deadline) : undefined
  const link = linked ? { base: held?.name } : undefined
  const prepared = prepareClone(source, { id, name, owner }, { disk, link, hostFiles, deadline })
  const populate = async (folder: string): Promise<void> => {
    await abortableAfterGrace(deadline, prepared.populate(folder))
    onProgress(1)
    // Last chance to give up: the clone is not published yet.
    deadline.throwIfAborted()
  }
  return await create({ ...prepared, populate })
}
