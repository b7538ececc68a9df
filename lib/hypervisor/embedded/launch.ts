import { isAbsolute, join, resolve } from 'node:path'
import { ServiceError } from '#lib/errors.ts'
import type { Access, OpenFile } from '#lib/platform/open-file.ts'
import type { StartWorker } from '#lib/platform/workers.ts'
import type { MachineView } from '../driver.ts'
import { assertNotReplaced } from '../host-image.ts'
import { openMachineFile, type HostFileOpener } from '../files/open-machine-file.ts'
import type { DiskClaims } from './disk-claims.ts'
import { inspectDisk, inspectKernel } from './limits.ts'
import type { EmulatorProgram } from './program.ts'
import { type Session, startSession } from './worker-session.ts'

/** Returns the absolute path of the machine's disk. */
export const resolveDiskPath = ({ home, definition }: MachineView): string | undefined => {
  const path = definition.disks[0]?.path
  return path === undefined ? undefined : resolve(home, path)
}

/**
 * Opens the machine's disk. Throws as `openMachineFile` does, `conflict` if the file was replaced since the machine was created,
 * and `unsupported` or `invalid` if it is not a usable disk any more.
 */
export const openMachineDisk = async (
  { home, name, definition }: MachineView,
  hostFiles: HostFileOpener,
  access: Access,
): Promise<OpenFile | undefined> => {
  const [disk] = definition.disks
  if (disk === undefined) return undefined
  const file = await openMachineFile(hostFiles, { home, name }, disk.path, access)
  try {
    if (isAbsolute(disk.path)) assertNotReplaced(disk, file, name)
    await inspectDisk(file)
    return file
  } catch (error) {
    await file[Symbol.asyncDispose]()
    throw error
  }
}

/** The open, validated files that a machine starts with. */
interface LaunchFiles extends AsyncDisposable {
  readonly kernel: OpenFile
  readonly initrd: OpenFile | undefined
  readonly disk: OpenFile | undefined
}

/** Opens the files that a machine starts with. Throws as `openMachineDisk`, and `invalid` for a missing or invalid kernel. */
export const openLaunchFiles = async (view: MachineView, hostFiles: HostFileOpener): Promise<LaunchFiles> => {
  const { name, definition } = view
  if (definition.kernel === undefined)
    throw new ServiceError('invalid', `${name} has no kernel, and without a BIOS nothing else can boot.`)
  await using stack = new AsyncDisposableStack()
  const kernel = stack.use(await openMachineFile(hostFiles, view, definition.kernel))
  await inspectKernel(kernel)
  const initrd =
    definition.initrd === undefined ? undefined : stack.use(await openMachineFile(hostFiles, view, definition.initrd))
  const disk = await openMachineDisk(view, hostFiles, 'write')
  if (disk) stack.use(disk)
  const openFiles = stack.move()
  return { kernel, initrd, disk, [Symbol.asyncDispose]: () => openFiles.disposeAsync() }
}

/** What every start of a machine needs of its driver. */
export interface LaunchParts {
  readonly startWorker: StartWorker
  readonly loadProgram: () => Promise<EmulatorProgram>
  readonly hostFiles: HostFileOpener
  readonly claims: DiskClaims
  /** Maximum size of the guest's serial log in bytes. */
  readonly serialLogSize: number
}

interface Options extends LaunchParts {
  readonly deadline: AbortSignal
  /** The saved state to restore instead of booting. */
  readonly state?: string
}

/**
 * Claims the machine's disk and starts a session that does not run yet, with the files that were validated here. Throws
 * `forbidden`, `invalid`, `unsupported` or `conflict` if one of its files changed, `conflict` if another machine has the disk, and
 * what `startSession` throws.
 */
export const launchSession = async (
  view: MachineView,
  { startWorker, loadProgram, hostFiles, claims, serialLogSize, deadline, state }: Options,
): Promise<Session> => {
  const { id, name, home, definition } = view
  const { cmdline, memory } = definition
  // Kept open until the emulator has opened them itself.
  await using files = await openLaunchFiles(view, hostFiles)
  const { kernel, initrd, disk } = files
  if (disk) claims.claim(disk, id, name)
  const data = {
    id,
    program: await loadProgram(),
    kernel: kernel.descriptorPath,
    memory,
    serialLog: join(home, 'serial.log'),
    serialLogSize,
    ...(cmdline !== undefined && { cmdline }),
    ...(initrd && { initrd: initrd.descriptorPath }),
    ...(disk && { disk: disk.descriptorPath }),
    ...(state !== undefined && { state }),
  }
  return await startSession({ startWorker, name, deadline, data })
}
