import { join } from 'node:path'
import { ServiceError } from '#lib/errors.ts'
import type { OpenFile } from '#lib/platform/open-file.ts'
import type { StartWorker } from '#lib/platform/workers.ts'
import type { MachineView } from '../driver.ts'
import { openMachineFile, type HostFileOpener } from '../files/open-machine-file.ts'
import { openSeed } from '../seed/seed-files.ts'
import type { DiskClaims } from './disks/claims.ts'
import { type MachineDisk, openMachineDisk } from './disks/machine-disk.ts'
import { inspectKernel } from './inspect-kernel.ts'
import type { EmulatorProgram } from './program.ts'
import type { StateToRestore } from './protocol.ts'
import { type Session, startSession } from './worker-session.ts'

/** The open, validated files that a machine starts with. */
interface LaunchFiles extends AsyncDisposable {
  readonly kernel: OpenFile
  readonly isLinux: boolean
  readonly initrd: OpenFile | undefined
  readonly disk: MachineDisk | undefined
  /** The CD-ROM from which cloud-init reads. */
  readonly seed: OpenFile | undefined
}

/** Opens the files that a machine starts with. Throws as `openMachineDisk`, and `invalid` for a missing or invalid kernel. */
export const openLaunchFiles = async (view: MachineView, hostFiles: HostFileOpener): Promise<LaunchFiles> => {
  const { name, home, definition } = view
  if (definition.kernel === undefined)
    throw new ServiceError('invalid', `${name} has no kernel, and without a BIOS nothing else can boot.`)
  await using stack = new AsyncDisposableStack()
  const kernel = stack.use(await openMachineFile(hostFiles, view, definition.kernel))
  const initrd =
    definition.initrd === undefined ? undefined : stack.use(await openMachineFile(hostFiles, view, definition.initrd))
  const isLinux = (await inspectKernel(kernel, definition, initrd)) === 'linux'
  const disk = await openMachineDisk(view, hostFiles, 'write')
  if (disk) stack.use(disk)
  const seed = await openSeed(home)
  if (seed) stack.use(seed)
  const openFiles = stack.move()
  return { kernel, isLinux, initrd, disk, seed, [Symbol.asyncDispose]: () => openFiles.disposeAsync() }
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
  readonly state?: StateToRestore
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
  const { kernel, isLinux, initrd, disk, seed } = files
  if (disk) claims.claim(disk.file, id, name)
  const data = {
    id,
    program: await loadProgram(),
    kernel: kernel.descriptorPath,
    isLinux,
    memory,
    serialLog: join(home, 'serial.log'),
    serialLogSize,
    ...(cmdline !== undefined && { cmdline }),
    ...(initrd && { initrd: initrd.descriptorPath }),
    ...(disk && {
      disk: { path: disk.file.descriptorPath, ...(disk.base && { base: disk.base.descriptorPath }) },
    }),
    ...(seed && { cdrom: seed.descriptorPath }),
    ...(state !== undefined && { state }),
  }
  return await startSession({ startWorker, name, deadline, data })
}
