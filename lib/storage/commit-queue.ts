import { ServiceError } from '#lib/errors.ts'
import type { LogRow, Row } from './keys.ts'
import type { Write } from './store.ts'
import type { Undo } from './table.ts'

/** A commit that was accepted in memory: what to write, and the way back. */
export interface Change {
  readonly rows: readonly (Row | LogRow)[]
  readonly undo: Undo
}

interface Options {
  /** Checks and carries out one commit in memory, wholly or not at all. Throws to refuse it. */
  readonly apply: (writes: readonly Write[]) => Change
  /** Makes rows durable. Throwing in the same turn keeps readers from ever seeing what was not written. */
  readonly persist: (rows: readonly (Row | LogRow)[]) => void | Promise<void>
  /** Is told when rows have become durable. */
  readonly committed: () => void
}

export interface CommitQueue {
  /** Why nothing is taken any more, if so. */
  stopped(): string | undefined
  add(writes: readonly Write[]): Promise<void>
  /** Refuses further commits; settles when the earlier ones have. */
  close(): Promise<void>
}

interface Waiter {
  readonly writes: readonly Write[]
  readonly resolve: () => void
  readonly reject: (reason: unknown) => void
}

// Taken at load, so that faked timers of a test do not stop the store. An immediate runs after all that arrived in
// this turn of the event loop, so requests that came in together share one transaction.
const afterThisTurn = globalThis.setImmediate

/** Gathers the commits of one turn into one write. A refused commit does not touch the others; a failed write ends all. */
export const createCommitQueue = ({ apply, persist, committed }: Options): CommitQueue => {
  let waiting: Waiter[] = []
  let running: Promise<void> | undefined
  let stopped: string | undefined

  const accept = (waiter: Waiter): readonly (Change & { readonly waiter: Waiter })[] => {
    try {
      return [{ ...apply(waiter.writes), waiter }]
    } catch (error) {
      waiter.reject(error)
      return []
    }
  }
  const flush = async (batch: readonly Waiter[]): Promise<void> => {
    const changes = batch.flatMap(accept)
    const rows = changes.flatMap(change => change.rows)
    try {
      if (rows.length > 0) await persist(rows)
    } catch (error) {
      stopped = 'an earlier write failed, and what is on disk is not certain until the service is started again'
      for (const { undo } of changes.toReversed()) undo()
      for (const { waiter } of changes) waiter.reject(error)
      return
    }
    for (const { waiter } of changes) waiter.resolve()
    if (rows.length > 0) committed()
  }
  const unavailable = (): ServiceError =>
    new ServiceError('unavailable', `The store takes no changes: ${stopped}. Reading still works.`)
  const run = async (): Promise<void> => {
    while (waiting.length > 0) {
      await new Promise<void>(resolve => void afterThisTurn(resolve))
      const batch = waiting
      waiting = []
      await flush(batch)
      if (stopped !== undefined) for (const { reject } of waiting.splice(0)) reject(unavailable())
    }
    running = undefined
  }

  return {
    stopped: () => stopped,
    add: writes =>
      new Promise((resolve, reject) => {
        if (stopped !== undefined) return reject(unavailable())
        waiting.push({ writes, resolve, reject })
        running ??= run()
      }),
    async close() {
      await running
      stopped ??= 'it is closed'
    },
  }
}
