import { join } from 'node:path'
import { ServiceError } from '#lib/errors.ts'
import { openFile } from '#lib/platform/open-file.ts'
import type { Definition } from '../definition.ts'
import type { ExportedMachine, HypervisorDriver, MachineView } from '../driver.ts'
import { copyIfAttached, exportMachineFiles } from '../files/export.ts'
import type { HostFileOpener } from '../files/open-machine-file.ts'
import { copyContent } from './disks/content.ts'
import { type MachineDisk, openMachineDisk } from './disks/machine-disk.ts'
import { inspectKernel, requireKernel } from './inspect-kernel.ts'
import { checkHardware, inspectDisk } from './limits.ts'

/**
 * Exports a machine that does not run, or what a snapshot of a machine is. `reserve` keeps others from writing to the disk until the
 * export handle is disposed. Throws `conflict`, `forbidden` and `invalid`.
 */
export const exportEmbeddedMachine = async (
  view: MachineView,
  { staging, deadline, onProgress }: Parameters<HypervisorDriver['export']>[1],
  {
    hostFiles,
    reserve,
  }: { readonly hostFiles: HostFileOpener; readonly reserve?: (disk: MachineDisk) => Disposable | undefined },
): Promise<ExportedMachine> => {
  const { home, definition } = view
  await using exportHandle = new AsyncDisposableStack()
  await using disk = await openMachineDisk(view, hostFiles, 'read')
  exportHandle.use(disk && reserve?.(disk))
  // The disk of a linked clone is exported with the content of its base.
  const selectCopy: typeof copyIfAttached = file =>
    disk?.base && file.disk ? (to, _, signal) => copyContent(disk, to, signal) : copyIfAttached(file)
  const { files } = exportHandle.use(
    await exportMachineFiles({ definition, home, staging, deadline, hostFiles, selectCopy }),
  )
  onProgress(1)
  const handle = exportHandle.move()
  return { files, [Symbol.asyncDispose]: () => handle.disposeAsync() }
}

/**
 * Validates an imported machine against the driver's limits. Returns the definition with the real disk sizes. Throws `invalid`
 * and `unsupported`.
 */
export const validateImport = async (definition: Definition, folder: string): Promise<Definition> => {
  checkHardware(definition)
  await using kernel = await openFile(join(folder, requireKernel(definition.kernel)))
  await using initrd = definition.initrd === undefined ? undefined : await openFile(join(folder, definition.initrd))
  await inspectKernel(kernel, definition, initrd)
  const disks = await Promise.all(
    definition.disks.map(async disk => {
      if (disk.format !== 'raw')
        throw new ServiceError('invalid', `${disk.path} is a ${disk.format} image; the embedded driver uses raw only.`)
      await using file = await openFile(join(folder, disk.path))
      return { ...disk, size: await inspectDisk(file) }
    }),
  )
  return { ...definition, disks }
}
