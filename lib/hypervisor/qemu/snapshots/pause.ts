import { realpath } from 'node:fs/promises'
import { isAbsolute, join } from 'node:path'
import { ServiceError } from '#lib/errors.ts'
import type { MachineView, StableState } from '../../driver.ts'
import { getDiskName } from '../../parts.ts'
import type { RunningDisk } from '../layers/put-overlays.ts'
import type { Qmp } from '../qmp.ts'
import { QemuStatus } from '../status.ts'

/** Returns the disks of a machine that can have overlays: its own qcow2 images. */
export const listOverlayDisks = async ({
  home,
  definition: { disks },
}: Pick<MachineView, 'home' | 'definition'>): Promise<readonly RunningDisk[]> => {
  const folder = await realpath(home)
  return disks.flatMap((disk, at) =>
    isAbsolute(disk.path) || disk.format === 'raw'
      ? []
      : { name: getDiskName(disk, at), path: join(folder, disk.path) },
  )
}

/** Throws `unsupported` for a machine with a disk that cannot be kept as it is: other programs may write to it, or it is raw. */
export const assertLayerable = ({ name, definition: { disks } }: Pick<MachineView, 'name' | 'definition'>): void => {
  const other = disks.find(({ path, format }) => isAbsolute(path) || format === 'raw')
  if (!other) return
  const why = isAbsolute(other.path) ? 'an image that it uses in place and others may change' : 'a raw image'
  throw new ServiceError(
    'unsupported',
    `Snapshots of ${name} are unsupported: its disk ${other.path} is ${why}. Clone it in full; the clone can have snapshots.`,
  )
}

/** Ends the pause of a snapshot: the guest continues if it ran before, and QEMU takes back the images of the disks in any case. */
export const leaveSnapshot = async (qmp: Qmp, from: StableState | undefined): Promise<void> => {
  if (from === 'running') return void (await qmp.execute('cont'))
  const { status } = await qmp.query('query-status', QemuStatus)
  if (status !== 'postmigrate') return
  // QEMU 7.2 takes the images back only when the guest continues. Both commands are sent at once, so it hardly runs.
  const both = [qmp.execute('cont'), qmp.execute('stop')]
  await Promise.all(both)
}
