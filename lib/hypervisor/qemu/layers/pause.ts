import { realpath } from 'node:fs/promises'
import { isAbsolute, join } from 'node:path'
import { ServiceError } from '#lib/errors.ts'
import type { MachineView, StableState } from '../../driver.ts'
import { getDiskName } from '../../parts.ts'
import type { Qmp } from '../qmp.ts'
import { QemuStatus } from '../status.ts'
import type { RunningDisk } from './put-overlays.ts'

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

/**
 * Throws `unsupported` for a machine with a disk that cannot be kept as it is, because other programs may write to it, or because it
 * is raw. `what` begins the sentence, and `advice` follows on "Clone it in full; ".
 */
export const assertLayerable = (
  { name, definition: { disks } }: Pick<MachineView, 'name' | 'definition'>,
  { what, advice }: { readonly what: string; readonly advice: string },
): void => {
  const other = disks.find(({ path, format }) => isAbsolute(path) || format === 'raw')
  if (!other) return
  const why = isAbsolute(other.path) ? 'an image that it uses in place and others may change' : 'a raw image'
  throw new ServiceError(
    'unsupported',
    `${what} of ${name} are unsupported: its disk ${other.path} is ${why}. Clone it in full; ${advice}.`,
  )
}

/** Ends the pause of an operation: the guest continues if it ran before, and QEMU takes back the images of the disks in any case. */
export const endPause = async (qmp: Qmp, from: StableState | undefined): Promise<void> => {
  if (from === 'running') return void (await qmp.execute('cont'))
  const { status } = await qmp.query('query-status', QemuStatus)
  if (status !== 'postmigrate') return
  // QEMU 7.2 takes the images back only when the guest continues. Both commands are sent at once, so it hardly runs.
  await Promise.all([qmp.execute('cont'), qmp.execute('stop')])
}
