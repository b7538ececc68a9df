import { join } from 'node:path'
import { ServiceError } from '#lib/errors.ts'
import type { Definition } from '../definition.ts'
import type { ExportedMachine, HypervisorDriver, MachineView } from '../driver.ts'
import { copyAttached, lendFiles } from '../exporting.ts'
import type { DiskClaims } from './disk-claims.ts'
import { diskOf } from './launch.ts'
import { checkHardware, inspectDisk, inspectFile, inspectKernel, requireKernel } from './limits.ts'

/** Lends the files of a machine that does not run; nobody else can use its disk until the loan ends. Throws `conflict`, `invalid`. */
export const exportFiles = async (
  view: MachineView,
  { staging, deadline, progress }: Parameters<HypervisorDriver['export']>[1],
  claims: DiskClaims,
): Promise<ExportedMachine> => {
  const { id, name, home, definition } = view
  await using loan = new AsyncDisposableStack()
  const disk = diskOf(view)
  if (disk !== undefined) {
    await inspectDisk(disk)
    await claims.take(disk, id, name)
    // A suspended machine keeps its disk.
    if (view.state === 'stopped') loan.defer(() => claims.release(id))
  }
  const { files } = loan.use(await lendFiles({ definition, home, staging, deadline, copy: copyAttached }))
  progress(1)
  const kept = loan.move()
  return { files, [Symbol.asyncDispose]: () => kept.disposeAsync() }
}

/** Judges a machine that came from a pack by the driver's limits. Throws `invalid` and `unsupported`. */
export const judgePacked = async (definition: Definition, folder: string): Promise<Definition> => {
  checkHardware(definition)
  await inspectKernel(join(folder, requireKernel(definition.kernel)))
  if (definition.initrd !== undefined) await inspectFile(join(folder, definition.initrd))
  const disks = await Promise.all(
    definition.disks.map(async disk => {
      if (disk.format !== 'raw')
        throw new ServiceError('invalid', `${disk.path} is a ${disk.format} image; the embedded driver uses raw only.`)
      return { ...disk, size: await inspectDisk(join(folder, disk.path)) }
    }),
  )
  return { ...definition, disks }
}
