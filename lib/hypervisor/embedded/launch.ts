import { join, resolve } from 'node:path'
import { ServiceError } from '#lib/errors.ts'
import type { StartWorker } from '#lib/platform/workers.ts'
import type { MachineView } from '../driver.ts'
import type { DiskClaims } from './disk-claims.ts'
import { inspectDisk, inspectFile, inspectKernel } from './limits.ts'
import { type Session, startSession } from './session.ts'

/** The machine's disk, absolute. */
export const diskOf = ({ home, definition }: MachineView): string | undefined => {
  const path = definition.disks[0]?.path
  return path === undefined ? undefined : resolve(home, path)
}

interface Options {
  readonly startWorker: StartWorker
  readonly claims: DiskClaims
  readonly deadline: AbortSignal
  /** The saved state to go on from, instead of booting. */
  readonly state?: string
}

/**
 * Claims the machine's disk and starts a session that does not run yet. Throws `invalid` and `unsupported` when one of its
 * files is not what it was, `conflict` when another machine has the disk, and what `startSession` throws.
 */
export const launch = async (
  view: MachineView,
  { startWorker, claims, deadline, state }: Options,
): Promise<Session> => {
  const { id, name, home, definition } = view
  const { kernel, initrd, cmdline, memory } = definition
  if (kernel === undefined)
    throw new ServiceError('invalid', `${name} has no kernel, and without a BIOS nothing else can boot.`)
  const files = { kernel: resolve(home, kernel), ...(initrd !== undefined && { initrd: resolve(home, initrd) }) }
  await inspectKernel(files.kernel)
  if (files.initrd !== undefined) await inspectFile(files.initrd)
  const disk = diskOf(view)
  if (disk !== undefined) {
    await inspectDisk(disk)
    await claims.take(disk, id, name)
  }
  const data = {
    id,
    ...files,
    memory,
    serialLog: join(home, 'serial.log'),
    ...(cmdline !== undefined && { cmdline }),
    ...(disk !== undefined && { disk }),
    ...(state !== undefined && { state }),
  }
  return startSession({ startWorker, name, deadline, data })
}
