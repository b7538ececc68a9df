import { groupAddress } from '#lib/auth/lockout-policy.ts'
import type { Every } from '#lib/async/every.ts'
import { messageOf, ServiceError } from '#lib/errors.ts'
import type { Logger as ServiceLog } from '#lib/platform/log.ts'
import type { Store } from '#lib/storage/store.ts'
import { AuditEntry, type AuditFacts } from './entry.ts'
import { createRateLimiter } from './rate-limiter.ts'
import type { AuditPage, AuditQuery, AuditRecord } from './schemas.ts'
import { createAuditWriter } from './writer.ts'

/** The audit log: who did what, when, from where, and what was refused. A hash chain shows a missing or changed entry. */
export interface Audit {
  /** Checks before a change that there is room for its entry. Throws `unavailable` if not: then the change must not be made. */
  admit(essential: boolean): void
  /**
   * Adds an entry. The entry of a change is on disk when this settles. Refusals and failures are written in batches a moment
   * later, so that clients that are refused can neither slow the disk down nor use up the space reserved for changes. Never
   * rejects, because the change is already made: an entry that cannot be written goes to the service's log and is retried.
   */
  record(facts: AuditFacts): Promise<void>
  /** Why entries are not written yet; undefined when all are. */
  failure(): string | undefined
  readPage(query: AuditQuery): Promise<AuditPage>
  close(): Promise<void>
}

interface Options {
  readonly store: Store
  readonly log: Pick<ServiceLog, 'error'>
  readonly every: Every
  /** Entries are removed when they are older than `days`, or when more than `entries` are newer. */
  readonly retention: { readonly days: number; readonly entries: number }
}

/** The most entries that one request scans. Then the reply has the matches so far and the position to continue from. */
const maxScanned = 20_000
const batchSize = 500
const day = 86_400_000

const createMatcher = ({ user, operation, outcome, from, to }: AuditQuery): ((entry: AuditRecord) => boolean) => {
  const prefix = operation?.endsWith('*') ? operation.slice(0, -1) : undefined
  return entry =>
    (user === undefined || entry.user_id === user || entry.username?.toLowerCase() === user.toLowerCase()) &&
    (operation === undefined ||
      (prefix === undefined ? entry.operation === operation : entry.operation.startsWith(prefix))) &&
    (outcome === undefined || entry.outcome === outcome) &&
    (from === undefined || Date.parse(entry.at) >= Date.parse(from)) &&
    (to === undefined || Date.parse(entry.at) <= Date.parse(to))
}

export const openAudit = ({ store, log, every, retention }: Options): Audit => {
  const entries = store.log('audit', AuditEntry)
  const writer = createAuditWriter({ store, entries, log })
  const rateLimiter = createRateLimiter<AuditFacts>((facts, repeated) => writer.add({ ...facts, repeated }))

  const removeOld = async (): Promise<void> => {
    const limit = new Date(Date.now() - retention.days * day).toISOString()
    let upTo = Math.max(0, entries.head() - retention.entries)
    for (;;) {
      const old = entries.read(Math.max(upTo, entries.first() - 1), batchSize).filter(({ at }) => at < limit)
      upTo = old.at(-1)?.seq ?? upTo
      if (old.length < batchSize) break
      await new Promise(resolve => setImmediate(resolve))
    }
    if (upTo >= entries.first()) await store.commit([entries.forget(upTo)])
  }
  const cleanUp = (): void =>
    void removeOld().catch((error: unknown) =>
      log.error('Old entries of the audit could not be removed: {reason}', { reason: messageOf(error) }),
    )
  const cleanUpTimer = every(day, cleanUp)
  cleanUp()

  const hasMore = (position: number, ascending: boolean): boolean =>
    ascending ? position < entries.head() : position > entries.first()

  return {
    admit(essential) {
      if (store.hasRoomForFollowUp(essential)) return
      const reason = store.failure ?? 'there is no room on the disk'
      throw new ServiceError('unavailable', `Nothing was done, because the audit cannot record it: ${reason}.`)
    },
    async record(facts) {
      if (facts.outcome === 'done') await writer.write(facts)
      else if (rateLimiter.admit(`${facts.operation} ${facts.user_id}`, groupAddress(facts.address), facts))
        writer.add(facts)
    },
    failure: writer.failure,
    async readPage(query) {
      await writer.flush()
      const isMatch = createMatcher(query)
      const found: AuditRecord[] = []
      const ascending = query.after !== undefined
      let position = query.after ?? query.before ?? entries.head() + 1
      for (let scanned = 0; scanned < maxScanned; scanned += batchSize) {
        const batch = ascending ? entries.read(position, batchSize) : entries.readBack(position, batchSize)
        for (const entry of batch) {
          position = entry.seq
          if (isMatch(entry)) found.push(entry)
          if (found.length === query.limit)
            return { entries: found, ...(hasMore(position, ascending) && { next: position }) }
        }
        if (batch.length < batchSize) return { entries: found }
      }
      return { entries: found, next: position }
    },
    async close() {
      cleanUpTimer[Symbol.dispose]()
      rateLimiter.close()
      await writer.close()
    },
  }
}
