import { isAbsolute } from 'node:path'
import type { Definition } from '../definition.ts'
import type { MachineView } from '../driver.ts'
import { pickHardware } from '../parts.ts'
import type { Snapshot } from '../snapshot.ts'

/** Returns the definition of a machine that is reverted. Its own disks that the snapshot does not have are detached. */
export const revertDefinition = (present: Definition, { definition }: Snapshot): Definition => {
  const { forwards, limits, disks, detached_disks = [] } = present
  const paths = new Set(definition.disks.map(({ path }) => path))
  const detached = [...detached_disks, ...disks].filter(({ path }) => !isAbsolute(path) && !paths.has(path))
  const { forwards: _, limits: __, detached_disks: ___, ...reverted } = pickHardware(present, definition)
  return {
    ...reverted,
    // The ports and the limits of the host are those of today.
    ...(forwards && { forwards }),
    ...(limits && { limits }),
    ...(detached.length > 0 && { detached_disks: detached }),
  }
}

/** Returns a machine as a revert would leave it, switched off: its disks are the images of the snapshot, which nobody writes to. */
export const viewSnapshot = (view: MachineView, snapshot: Snapshot): MachineView => {
  const { detached_disks: _, disks, ...rest } = revertDefinition(view.definition, snapshot)
  const kept = disks.map(disk => ({ ...disk, path: snapshot.layers[disk.path] ?? disk.path }))
  return { ...view, state: 'stopped', definition: { ...rest, disks: kept } }
}
