import { type FileHandle, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { waitAtMost } from '#lib/async/time-limit.ts'
import * as z from 'zod'
import { ServiceError } from '#lib/errors.ts'
import { renameSynced } from '#lib/platform/files.ts'
import type { MachineView } from '../driver.ts'
import { fileNames } from './file-names.ts'
import { createMemoryFile, type MemoryOwner } from './memory-file.ts'
import { receiveMemory } from './memory-receiver.ts'
import type { Qmp } from './qmp.ts'
import { QemuStatus } from './status.ts'

// QEMU throttles migration by default; a local file needs no limit.
const bandwidth = 2 ** 40

/** Milliseconds to wait for the receiver's error after QEMU reported a failed migration. */
const causeTimeout = 1_000
/** Milliseconds within which QEMU must end a cancelled migration. */
const cancelTimeout = 5_000

/** Milliseconds between two looks at what QEMU does. The first ones are close to each other, since a fork is fast. */
const longestDelay = 20

const Migration = z.object({ status: z.string().optional(), 'error-desc': z.string().optional() })
type Migration = z.infer<typeof Migration>

const finishedStatuses = new Set(['completed', 'failed', 'cancelled', undefined])

/**
 * Waits until no migration runs. When `isAborted` returns true, cancels it; throws `upstream` if QEMU continues anyway.
 */
export const waitForEnd = async (qmp: Qmp, isAborted: () => boolean, signal?: AbortSignal): Promise<Migration> => {
  let cancelDeadline: number | undefined
  for (let delay = 1; ; delay = Math.min(2 * delay, longestDelay)) {
    signal?.throwIfAborted()
    const migration = await qmp.query('query-migrate', Migration)
    if (finishedStatuses.has(migration.status)) return migration
    if (cancelDeadline === undefined && isAborted()) {
      cancelDeadline = performance.now() + cancelTimeout
      await qmp.execute('migrate_cancel')
    }
    if (cancelDeadline !== undefined && performance.now() > cancelDeadline)
      throw new ServiceError(
        'upstream',
        'QEMU goes on sending the memory of the machine after it was told to cancel that.',
      )
    await wait(delay)
  }
}

/** Throws `conflict` for a machine whose memory cannot be saved: QEMU does not save what its guest has open in a shared folder. */
export const assertSuspendable = ({ name, definition: { shared_folders = [] } }: MachineView): void => {
  const folder = shared_folders.find(({ enabled }) => enabled)
  if (folder)
    throw new ServiceError(
      'conflict',
      `${name} has the shared folder ${folder.name}, so its memory cannot be saved. Stop the machine and remove the folder.`,
    )
}

/** Prepares QEMU to send its guest. With `withoutMemory` it does not send the memory that other processes can share. */
export const configureMigration = async (
  qmp: Qmp,
  { withoutMemory }: { readonly withoutMemory: boolean },
): Promise<void> => {
  await qmp.execute('migrate-set-parameters', { 'max-bandwidth': bandwidth })
  await qmp.execute('migrate-set-capabilities', {
    capabilities: [{ capability: 'x-ignore-shared', state: withoutMemory }],
  })
}

/** Cancels the migration that a killed service had begun. Throws as `waitForEnd`, and the reason of `signal`. */
export const cancelMigration = async (qmp: Qmp, signal: AbortSignal): Promise<void> =>
  void (await waitForEnd(qmp, () => true, signal))

/**
 * Has QEMU send the memory of a paused guest into an open file, which is durable when this resolves. The images of the disks are
 * inactive then: QEMU takes them back when the guest continues. Throws `no-space`, the reason of `deadline`, or the error of QEMU.
 */
export const sendMemory = async (qmp: Qmp, home: string, file: FileHandle, deadline: AbortSignal): Promise<void> => {
  await rm(join(home, fileNames.memorySocket), { force: true })
  await using receiver = await receiveMemory(home, file)
  const onAbort = (): void => receiver.abort(deadline.reason)
  deadline.addEventListener('abort', onAbort)
  try {
    await configureMigration(qmp, { withoutMemory: false })
    await qmp.execute('migrate', { uri: `unix:${fileNames.memorySocket}` })
    const isAborted = (): boolean => deadline.aborted || receiver.failure() !== undefined
    const { status, 'error-desc': why } = await waitForEnd(qmp, isAborted).finally(() => deadline.throwIfAborted())
    if (status !== 'completed') {
      // An error of the receiver is the cause of the failed migration, but QEMU may report the failure first.
      await waitAtMost(
        receiver.received.catch(() => {}),
        causeTimeout,
      )
      throw (
        receiver.failure() ??
        new ServiceError(
          'upstream',
          `The memory of the machine could not be written: ${why ?? status ?? 'QEMU gave no reason'}.`,
        )
      )
    }
    await receiver.received
    deadline.throwIfAborted()
  } finally {
    deadline.removeEventListener('abort', onAbort)
  }
}

/**
 * Saves the memory of a paused guest to its state file, which is complete and durable when this resolves. Throws as `sendMemory`; an
 * incomplete file may be left then.
 */
export const saveMemory = async (qmp: Qmp, owner: MemoryOwner, deadline: AbortSignal): Promise<void> => {
  await deleteMemory(owner.home)
  await using file = await createMemoryFile(owner)
  await sendMemory(qmp, owner.home, file.handle, deadline)
  await file.finish()
}

/**
 * Renames a saved memory that was loaded, before its guest continues and changes its disk: it must never be loaded again. A rename
 * works on a full disk.
 */
export const markMemoryLoaded = (home: string): Promise<void> =>
  renameSynced(join(home, fileNames.stateFile), join(home, fileNames.loadedState))

/** Deletes every saved memory of the machine, complete or not. */
export const deleteMemory = async (home: string): Promise<void> => {
  for (const name of [
    fileNames.stateFile,
    fileNames.stateInfo,
    fileNames.loadedState,
    fileNames.unfinishedState,
    fileNames.memorySocket,
  ])
    await rm(join(home, name), { force: true })
}

/** Waits until QEMU has loaded the saved memory it was started with. Throws if QEMU exits, or the deadline's reason. */
export const waitForLoad = async (qmp: Qmp, deadline: AbortSignal): Promise<void> => {
  for (let delay = 1; ; delay = Math.min(2 * delay, longestDelay)) {
    deadline.throwIfAborted()
    const { status } = await qmp.query('query-status', QemuStatus)
    if (status !== 'inmigrate') return
    await wait(delay)
  }
}
