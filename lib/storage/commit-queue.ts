import { isFault, ServiceError } from '#lib/errors.ts'
import type { Row } from './rows.ts'
import type { CommitOptions, Write } from './store.ts'
import type { Undo } from './table.ts'

/** A commit that is applied in memory: the rows to write, and how to undo it. */
export interface AppliedCommit {
  readonly rows: readonly Row[]
  readonly undo: Undo
}

interface Options {
  /** Checks one commit and applies it in memory, all or nothing. Throws to refuse it. */
  readonly apply: (writes: readonly Write[]) => AppliedCommit
  /**
   * Makes rows durable. A synchronous throw keeps readers from seeing changes that were not written. Throws a `ServiceError`
   * when certainly nothing was written; after any other error that is unknown.
   */
  readonly persist: (rows: readonly Row[], essential: boolean) => void | Promise<void>
  /** Called when rows have become durable. */
  readonly onCommitted: () => void
}

export interface CommitQueue {
  /** Why the queue takes no more commits; undefined while it does. */
  stopReason(): string | undefined
  add(writes: readonly Write[], options?: CommitOptions): Promise<void>
  /** Refuses further commits and waits for the earlier ones. */
  close(): Promise<void>
}

interface QueuedCommit {
  readonly writes: readonly Write[]
  readonly essential: boolean
  readonly resolve: () => void
  readonly reject: (reason: unknown) => void
}

// Read at load, so that fake timers of a test do not stop the store. An immediate runs after all callbacks of this turn of
// the event loop, so requests that arrived together share one transaction.
const afterThisTurn = globalThis.setImmediate

/**
 * Groups the commits of one turn of the event loop into one write. A commit that is refused, or that finds no room on the
 * disk, does not affect the others. After a write with an unknown result the queue takes no more commits.
 */
export const createCommitQueue = ({ apply, persist, onCommitted }: Options): CommitQueue => {
  let queue: QueuedCommit[] = []
  let running: Promise<void> | undefined
  let stopReason: string | undefined

  const flush = async (batch: readonly QueuedCommit[]): Promise<void> => {
    const changes: (AppliedCommit & { readonly queued: QueuedCommit })[] = []
    const refusals: (() => void)[] = []
    for (const queued of batch)
      try {
        changes.push({ ...apply(queued.writes), queued })
      } catch (error) {
        refusals.push(() => queued.reject(error))
      }
    const rows = changes.flatMap(change => change.rows)
    const essential = changes.every(({ queued }) => queued.essential)
    try {
      if (rows.length > 0) await persist(rows, essential)
    } catch (error) {
      for (const { undo } of changes.toReversed()) undo()
      // Retry each commit alone: a small or essential one may find room, and a refused one may be valid without the others.
      if (isFault(error, 'no-space') && batch.length > 1) {
        for (const queued of batch) if (stopReason === undefined) await flush([queued])
        return
      }
      if (!(error instanceof ServiceError))
        stopReason = 'an earlier write failed, and the content on disk is unknown until the service is started again'
      for (const { queued } of changes) queued.reject(error instanceof ServiceError ? error : toWriteError(error))
      for (const refuse of refusals) refuse()
      return
    }
    for (const { queued } of changes) queued.resolve()
    for (const refuse of refusals) refuse()
    if (rows.length > 0) onCommitted()
  }
  const toWriteError = (cause: unknown): ServiceError =>
    new ServiceError(
      'unavailable',
      'The store could not be written. Whether the change was stored is known after a restart.',
      {
        cause,
      },
    )
  const createStoppedError = (): ServiceError =>
    new ServiceError('unavailable', `The store takes no changes: ${stopReason}. Reading still works.`)
  const run = async (): Promise<void> => {
    while (queue.length > 0) {
      await new Promise<void>(resolve => void afterThisTurn(resolve))
      const batch = queue
      queue = []
      if (stopReason === undefined) await flush(batch)
      if (stopReason !== undefined)
        for (const { reject } of [...batch, ...queue.splice(0)]) reject(createStoppedError())
    }
    running = undefined
  }

  return {
    stopReason: () => stopReason,
    add: (writes, { essential = false } = {}) =>
      new Promise((resolve, reject) => {
        if (stopReason !== undefined) return reject(createStoppedError())
        queue.push({ writes, essential, resolve, reject })
        running ??= run()
      }),
    async close() {
      await running
      stopReason ??= 'it is closed'
    },
  }
}
