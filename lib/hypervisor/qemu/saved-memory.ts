import { open, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { ServiceError } from '#lib/errors.ts'
import { exists, renameSynced } from '#lib/platform/files.ts'
import { files } from './arguments.ts'
import type { Qmp } from './qmp.ts'

// QEMU throttles migration by default; a local file needs no such care.
const bandwidth = 2 ** 40

interface Migration {
  readonly status?: string
  readonly 'error-desc'?: string
}

const ended = new Set(['completed', 'failed', 'cancelled', undefined])

const waitForEnd = async (qmp: Qmp, deadline?: AbortSignal): Promise<Migration> => {
  for (;;) {
    const migration = (await qmp.execute('query-migrate')) as Migration
    if (ended.has(migration.status)) return migration
    if (deadline?.aborted) await qmp.execute('migrate_cancel')
    await wait(10)
  }
}

/** Tells QEMU to write the memory of a halted machine to its folder. It goes on with that by itself if the service dies. */
export const beginSave = async (qmp: Qmp): Promise<void> => {
  await qmp.execute('migrate-set-parameters', { 'max-bandwidth': bandwidth })
  // All names are fixed: this text goes through a shell, in the machine's folder. The last name is there only when all was written.
  await qmp.execute('migrate', { uri: `exec:cat > ${files.newState} && mv ${files.newState} ${files.fullState}` })
}

/** Waits until the memory is on disk under its final name. Throws what went wrong; then nothing of it is left. */
export const finishSave = async (qmp: Qmp, home: string, deadline?: AbortSignal): Promise<void> => {
  const { status, 'error-desc': reason } = await waitForEnd(qmp, deadline)
  const full = join(home, files.fullState)
  // The writer ends a moment after QEMU has handed it the last byte.
  for (let tries = 0; status === 'completed' && tries < 500 && !(await exists(full)); tries += 1) await wait(10)
  if (status !== 'completed' || !(await exists(full))) {
    await rm(join(home, files.newState), { force: true })
    if (deadline?.aborted) throw deadline.reason
    const why = reason ? `: ${reason}` : '; the disk of the host may be full'
    throw new ServiceError('upstream', `The memory of the machine could not be written${why}.`)
  }
  await keepSaved(home)
}

/** Gives a wholly written state its final name, durably. */
export const keepSaved = async (home: string): Promise<void> => {
  const full = join(home, files.fullState)
  const handle = await open(full, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
  await renameSynced(full, join(home, files.state))
}

/** Waits until a QEMU that was started with saved memory has loaded it. Throws when it gives up, or at the deadline. */
export const waitForLoad = async (qmp: Qmp, deadline?: AbortSignal): Promise<void> => {
  for (;;) {
    const { status } = (await qmp.execute('query-status')) as { status: string }
    if (status !== 'inmigrate') return
    deadline?.throwIfAborted()
    await wait(10)
  }
}
