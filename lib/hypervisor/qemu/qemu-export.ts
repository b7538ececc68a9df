import { link, rm } from 'node:fs/promises'
import { basename, isAbsolute, join } from 'node:path'
import { ServiceError } from '#lib/errors.ts'
import { openFile } from '#lib/platform/open-file.ts'
import { bounds, type Definition } from '../definition.ts'
import type { ExportedMachine, HypervisorDriver, MachineView } from '../driver.ts'
import { copyIfAttached, exportMachineFiles } from '../files/export.ts'
import { firmwareFile } from '../files/machine-files.ts'
import type { Snapshot } from '../snapshot.ts'
import type { Attachments } from './attached-files.ts'
import type { CloneSources } from './clone-sources.ts'
import { copyDisk } from './disks.ts'
import type { Images } from './images.ts'
import { readLayerAt } from './layer.ts'
import { generateBasePath } from './layers.ts'
import { assignPorts } from './hardware/ports.ts'
import { inspectQcow2 } from './qcow2.ts'
import { getVariablesFile } from './snapshots/files.ts'
import { viewSnapshot } from '../snapshots/view-snapshot.ts'

type Disk = Definition['disks'][number]

export interface ExportContext {
  readonly images: Images
  readonly attachments: Attachments
  readonly sources: CloneSources
}

/**
 * Exports a machine that does not run, or a snapshot of a machine. Attached disks and disks with a backing image are copied to qcow2.
 * Throws as `exportMachineFiles`.
 */
export const exportQemuMachine = async (
  present: MachineView,
  { staging, deadline, onProgress }: Parameters<HypervisorDriver['export']>[1],
  { images, attachments, sources }: ExportContext,
  snapshot?: Snapshot,
): Promise<ExportedMachine> => {
  const { home, definition } = snapshot ? viewSnapshot(present, snapshot) : present
  const { disks } = definition
  await using resources = new AsyncDisposableStack()
  resources.use(await sources.lockForReading(present, deadline))
  const buildsOnAnother = async ({ path, format }: Disk): Promise<boolean> =>
    format === 'qcow2' && (await readLayerAt(join(home, path))).backing !== undefined
  const mustCopy = await Promise.all(disks.map(async disk => isAbsolute(disk.path) || (await buildsOnAnother(disk))))
  const copyOptions = { source: definition, attachments, home, folder: staging, images, deadline, onProgress }
  /** Hard-links the disk, since a linked clone created during the export moves this content away from the disk's path. */
  const linkDisk = async (disk: Disk): Promise<Disk> => {
    const path = generateBasePath(home)
    await link(join(home, disk.path), path)
    resources.defer(() => rm(path, { force: true }))
    return { ...disk, path: basename(path) }
  }
  const exportDisk = async (disk: Disk, at: number): Promise<Disk> => {
    if (mustCopy[at]) return { ...disk, format: 'qcow2' }
    return disk.format === 'qcow2' ? linkDisk(disk) : disk
  }
  const exported = await exportMachineFiles({
    definition: { ...definition, disks: await Promise.all(disks.map(exportDisk)) },
    home,
    variables: snapshot && getVariablesFile(snapshot.id),
    staging,
    deadline,
    hostFiles: attachments.hostFiles,
    selectCopy(file, at) {
      if (!file.disk) return copyIfAttached(file)
      const disk = mustCopy[at] ? disks[at] : undefined
      return disk && (to => copyDisk(disk, at, to, copyOptions))
    },
  })
  onProgress(1)
  resources.use(exported)
  const held = resources.move()
  return { files: exported.files, [Symbol.asyncDispose]: () => held.disposeAsync() }
}

const validateDisk = async ({ format }: Disk, path: string, images: Images): Promise<number> => {
  await using file = await openFile(path)
  const size = format === 'raw' ? file.size : await inspectQcow2(file)
  if (size > bounds.diskSize) throw new ServiceError('invalid', `${path} is larger than a disk can be.`)
  if (format === 'raw') return size
  // Checks that QEMU can open the image and reads the same from its header.
  const { backing, dataFile } = await images.info({ format, file })
  const other = backing ?? dataFile
  if (other !== undefined) throw new ServiceError('invalid', `${path} needs another file, ${other}; pack it flattened.`)
  return size
}

/** Creates the validator of imported machines. It takes the formats from the definition and never detects them. */
export const createImportValidator =
  (images: Images) =>
  async (definition: Definition, folder: string): Promise<Definition> => {
    const measureDisk = async (disk: Disk): Promise<Disk> => ({
      ...disk,
      size: await validateDisk(disk, join(folder, disk.path), images),
    })
    if (definition.firmware === 'uefi') {
      await using variables = await openFile(join(folder, firmwareFile))
      await inspectQcow2(variables)
    }
    return assignPorts({ ...definition, disks: await Promise.all(definition.disks.map(measureDisk)) })
  }
