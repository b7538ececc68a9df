import type { Definition } from '#lib/hypervisor/definition.ts'
import type { MachineView } from '#lib/hypervisor/driver.ts'

/** True if a disk or a CD-ROM drive of a machine needs the registered image with this digest. */
const usesImage = ({ disks, detached_disks = [], cdroms = [] }: Definition, digest: string): boolean =>
  [...disks, ...detached_disks, ...cdroms].some(({ image }) => image === digest)

/** Returns the names of the machines that need the registered image with this digest, sorted. */
export const listImageUsers = (views: readonly MachineView[], digest: string): readonly string[] =>
  views
    .filter(({ definition, snapshots }) =>
      [definition, ...(snapshots?.snapshots ?? []).map(one => one.definition)].some(one => usesImage(one, digest)),
    )
    .map(({ name }) => name)
    .toSorted()
