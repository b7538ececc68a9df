import { messageOf } from '#lib/errors.ts'
import type { Logger as ServiceLog } from '#lib/platform/log.ts'
import type { Log, Store } from '#lib/storage/store.ts'
import { type AuditEntry, type AuditFacts, chainEntry } from './entry.ts'

/** Writes entries to the log of the audit, at once or in batches. Its promises never reject. */
export interface AuditWriter {
  /** Writes the entry of a change at once, after the queued entries, so that all are in the order of their times. */
  write(facts: AuditFacts): Promise<void>
  /** Queues an entry for the next batch, which does not use the space reserved for entries of changes. */
  add(facts: AuditFacts): void
  /** Writes the queued entries. */
  flush(): Promise<void>
  /** Why entries are not written yet; undefined when all are. */
  failure(): string | undefined
  close(): Promise<void>
}

interface Options {
  readonly store: Pick<Store, 'commit' | 'failure'>
  readonly entries: Log<AuditEntry>
  readonly log: Pick<ServiceLog, 'error'>
}

/** Milliseconds that an entry may wait for others, and the most entries in one commit. */
const batchDelay = 100
const batchSize = 4
/** Milliseconds after which entries that could not be written are retried, and how many may wait for that. */
const retryDelay = 1_000
const maxQueued = 10_000

export const createAuditWriter = ({ store, entries, log }: Options): AuditWriter => {
  let queue: AuditFacts[] = []
  /** How many of the queued entries have failed to be written before. */
  let unwritten = 0
  let timer: NodeJS.Timeout | undefined
  const alreadyLogged = new WeakSet<AuditFacts>()

  const scheduleFlush = (milliseconds: number): void => {
    timer ??= setTimeout(() => void flush(false), milliseconds)
  }
  const requeue = (facts: readonly AuditFacts[]): void => {
    queue = [...facts, ...queue]
    unwritten += facts.length
    const dropped = queue.splice(0, Math.max(0, queue.length - maxQueued)).length
    unwritten -= dropped
    if (dropped > 0) log.error('{count} entries are lost to the audit: too many wait for room', { count: dropped })
    scheduleFlush(retryDelay)
    // The retry must not keep the process alive: a shutdown closes the writer.
    timer?.unref()
  }
  const commit = async (facts: readonly AuditFacts[], essential: boolean): Promise<boolean> => {
    try {
      const writes = facts.map(entryFacts => entries.append((seq, previous) => chainEntry(entryFacts, seq, previous)))
      await store.commit(writes, { essential })
      return true
    } catch (error) {
      if (unwritten === 0) log.error('The audit cannot be written for now: {reason}', { reason: messageOf(error) })
      // Until the audit can be written, the service's log has the entries of changes.
      for (const entry of facts) {
        if (entry.outcome !== 'done' || alreadyLogged.has(entry)) continue
        alreadyLogged.add(entry)
        log.error('This entry is not written to the audit yet: {entry}', { entry })
      }
      return false
    }
  }
  const flushNow = async (essential: boolean): Promise<void> => {
    clearTimeout(timer)
    timer = undefined
    // In small batches, so that other commits come in between. A change that is written meanwhile takes the rest of the queue
    // with it, before its own entry.
    while (queue.length > 0) {
      const batch = queue.splice(0, batchSize)
      if (await commit(batch, essential)) continue
      unwritten = 0
      return requeue([...batch, ...queue.splice(0)])
    }
    unwritten = 0
  }
  let flushing: Promise<void> = Promise.resolve()
  const flush = (essential: boolean): Promise<void> => (flushing = flushing.then(() => flushNow(essential)))

  return {
    async write(facts) {
      // Entries that found no room before are not part of this commit, which must not fail because of them.
      const all = [...(unwritten === 0 ? queue.splice(0) : []), facts]
      if (!(await commit(all, true))) requeue(all)
    },
    add(facts) {
      queue.push(facts)
      scheduleFlush(batchDelay)
    },
    flush: () => flush(false),
    failure: () =>
      unwritten === 0
        ? undefined
        : `${unwritten} entries could not be written yet: ${store.failure ?? 'they are retried in a second'}`,
    async close() {
      await flush(true)
      clearTimeout(timer)
    },
  }
}
