import { stat } from 'node:fs/promises'
import { isAbsolute, join } from 'node:path'
import { isFault, ServiceError } from '#lib/errors.ts'
import { getInheritedPath, getFileIdentity, type OpenFile } from '#lib/platform/open-file.ts'
import type { Account } from '#lib/platform/processes.ts'
import type { Definition } from '../definition.ts'
import type { MachineView, StableState } from '../driver.ts'
import { isImageOfDisk, assertNotReplaced } from '../host-image.ts'
import { type FileOwner, openMachineFile, openMachineFolder, type HostFileOpener } from '../files/open-machine-file.ts'
import type { OpenRegisteredImage } from '../files/registered-image.ts'
import type { CdRom, SharedFolder } from '../machine-parts.ts'
import { openSeed } from '../seed/seed-files.ts'
import type { CpuGroups } from './cgroup/cpu-groups.ts'
import { type Firmware, checkVariables } from './hardware/firmware.ts'
import { listImageLayers } from './image-layers.ts'
import { openLayers } from './open-layers.ts'
import { allowReading } from './ownership.ts'
import { inspectQcow2 } from './qcow2.ts'

type Disk = Definition['disks'][number]

/** A host image that a machine uses as a disk. */
export interface AttachedDisk {
  /** The name of the machine. */
  readonly name: string
  readonly state: StableState
  readonly disk: Disk
}

/** What the driver provides to open attached images. */
export interface Attachments {
  readonly hostFiles: HostFileOpener
  readonly openImage: OpenRegisteredImage
  /** The account that QEMU runs as; undefined for that of the service. */
  readonly account?: Account | undefined
  readonly firmware: Firmware | undefined
  readonly cpuGroups: CpuGroups
  /** Returns the host images of all other machines. */
  otherDisks(id: string): readonly AttachedDisk[]
}

/** True if an open image is this disk of another machine, also under another path. */
const isSameImage = async (file: OpenFile, disk: Disk): Promise<boolean> =>
  isImageOfDisk(disk, file) &&
  (await stat(disk.path, { bigint: true }).then(
    found => getFileIdentity(found) === file.identity,
    () => false,
  ))

/**
 * Throws `conflict` if another machine uses the image in another format. Otherwise data that its guest writes would be read here
 * as a header, and a header can name any file of the host.
 */
export const assertSameFormat = async (
  file: OpenFile,
  format: Disk['format'],
  otherDisks: readonly AttachedDisk[],
): Promise<void> => {
  for (const { name, disk } of otherDisks)
    if (disk.format !== format && (await isSameImage(file, disk)))
      throw new ServiceError(
        'conflict',
        `${file.path} is the ${disk.format} disk of ${name}, so it cannot be a ${format} one. Use a copy of it.`,
      )
}

/** Throws `conflict` if another machine in one of these states uses the image. */
const assertNotInUse = async (
  file: OpenFile,
  states: readonly StableState[],
  otherDisks: readonly AttachedDisk[],
): Promise<void> => {
  for (const { name, state, disk } of otherDisks)
    if (states.includes(state) && (await isSameImage(file, disk)))
      throw new ServiceError(
        'conflict',
        `${file.path} is in use by the machine ${name}, which is ${state}. Stop ${name} first, or clone it: a clone has disks of its own.`,
      )
}

/** States in which QEMU has the disks of a machine open. */
const openStates: readonly StableState[] = ['running', 'paused']
/** States in which no other machine may start with a disk: open ones, and suspended, which needs its disks unchanged. */
const reservedStates: readonly StableState[] = [...openStates, 'suspended']

/** Why an image is opened: to copy it, to start a machine with it, or to resume one. */
type Purpose = 'copy' | 'start' | 'resume'

/** Opens an attached image and validates it again. Throws `forbidden` and `conflict`, with what has changed in the message. */
export const openAttachedDisk = async (
  { hostFiles, otherDisks }: Attachments,
  machine: FileOwner & { readonly id: string },
  disk: Disk,
  purpose: Purpose,
): Promise<OpenFile> => {
  const { path, format } = disk
  const file = await openMachineFile(hostFiles, machine, path, purpose === 'copy' ? 'read' : 'write')
  try {
    assertNotReplaced(disk, file, machine.name)
    const disksOfOthers = otherDisks(machine.id)
    await assertSameFormat(file, format, disksOfOthers)
    await assertNotInUse(file, purpose === 'start' ? reservedStates : openStates, disksOfOthers)
    if (format === 'qcow2') await inspectQcow2(file)
    return file
  } catch (error) {
    await file[Symbol.asyncDispose]()
    throw isFault(error, 'invalid') ? new ServiceError('conflict', error.message, { cause: error }) : error
  }
}

/** A disk, with the paths of its backing images from the nearest to the lowest. */
export type ResolvedDisk = Disk & { readonly layers?: readonly string[] }
export type ResolvedDefinition = Omit<Definition, 'disks'> & {
  readonly disks: ResolvedDisk[]
  /** True if the owners and modes that a guest gives to shared files are kept beside them, and the host does not apply them. */
  readonly mapsFileModes?: boolean
  /** The path of the UEFI firmware's code; undefined for a machine with a BIOS. */
  readonly firmwareCode?: string | undefined
  /** The path of the CD-ROM from which cloud-init reads. */
  readonly seed?: string
}

/** The open, validated host files that a machine runs with. */
export interface AttachedFiles extends AsyncDisposable {
  /** The definition for a process that inherits `descriptors`: host files are named by descriptor, not by path. */
  readonly definition: ResolvedDefinition
  readonly descriptors: readonly number[]
  /** Replaces the descriptors in a message of that process by the original paths. */
  restorePaths(message: string): string
}

/** Opens all host files that a machine runs with. Throws `forbidden` and `conflict`. */
export const openAttachedFiles = async (
  attachments: Attachments,
  { home, state, definition }: Pick<MachineView, 'home' | 'state' | 'definition'>,
): Promise<AttachedFiles> => {
  await using stack = new AsyncDisposableStack()
  const { id, name, disks, kernel, initrd } = definition
  const machine = { id, name, home }
  const files: Pick<OpenFile, 'path' | 'handle'>[] = []
  const inherit = (file: (typeof files)[number]): string => getInheritedPath(file, files.push(file) - 1)
  const keepAndInherit = (file: OpenFile): string => inherit(stack.use(file))
  // QEMU may open an image again by its name, and the name of the disk leads to another file once there is an overlay over it.
  const inheritOwnDisk = async (disk: Disk): Promise<ResolvedDisk> => {
    if (disk.format === 'raw') return disk
    const registered = listImageLayers(definition, attachments.openImage)
    const [image, ...layers] = await openLayers(join(home, disk.path), stack, registered)
    if (attachments.account) for (const { handle } of layers) await allowReading(handle, attachments.account)
    return { ...disk, path: inherit(image), layers: layers.map(inherit) }
  }
  const purpose = state === 'stopped' ? 'start' : 'resume'
  const resolvedDisks: ResolvedDisk[] = []
  for (const disk of disks)
    resolvedDisks.push(
      isAbsolute(disk.path)
        ? { ...disk, path: keepAndInherit(await openAttachedDisk(attachments, machine, disk, purpose)) }
        : await inheritOwnDisk(disk),
    )
  const inheritFile = async <T extends string | undefined>(path: T): Promise<string | T> =>
    path !== undefined && isAbsolute(path)
      ? keepAndInherit(await openMachineFile(attachments.hostFiles, machine, path))
      : path
  const boot = { kernel: await inheritFile(kernel), initrd: await inheritFile(initrd) }
  const inheritMedium = async ({ path, image, ...drive }: CdRom): Promise<CdRom> => {
    if (image === undefined) return { ...drive, ...(path !== undefined && { path: await inheritFile(path) }) }
    const file = await attachments.openImage(image)
    if (attachments.account) await allowReading(file.handle, attachments.account)
    return { ...drive, path: keepAndInherit(file) }
  }
  const resolvedDrives: CdRom[] = []
  for (const drive of definition.cdroms ?? []) resolvedDrives.push(await inheritMedium(drive))
  const resolvedFolders: SharedFolder[] = []
  for (const folder of definition.shared_folders ?? []) {
    if (!folder.enabled) continue
    const open = stack.use(await openMachineFolder(attachments.hostFiles, machine, folder.path))
    resolvedFolders.push({ ...folder, path: inherit(open) })
  }
  const firmwareCode = definition.firmware === 'uefi' ? await checkVariables(home, attachments.firmware) : undefined
  const inheritSeed = async (): Promise<string | undefined> => {
    const file = await openSeed(home)
    if (!file) return undefined
    if (attachments.account) await allowReading(file.handle, attachments.account)
    return keepAndInherit(file)
  }
  const seed = await inheritSeed()
  const openFiles = stack.move()
  return {
    definition: {
      ...definition,
      ...boot,
      disks: resolvedDisks,
      ...(definition.cdroms && { cdroms: resolvedDrives }),
      ...(definition.shared_folders && { shared_folders: resolvedFolders }),
      // A QEMU that is root would make programs with setuid, and devices, on the host for its guest.
      mapsFileModes: !attachments.account && process.getuid?.() === 0,
      firmwareCode,
      ...(seed !== undefined && { seed }),
    },
    descriptors: files.map(({ handle }) => handle.fd),
    restorePaths: message =>
      files.reduceRight((text, file, at) => text.replaceAll(getInheritedPath(file, at), file.path), message),
    [Symbol.asyncDispose]: () => openFiles.disposeAsync(),
  }
}
