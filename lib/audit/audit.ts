import { messageOf } from '#lib/errors.ts'
import type { Log as ServiceLog } from '#lib/platform/log.ts'
import type { Store } from '#lib/storage/store.ts'
import { AuditEntry, type AuditFacts, chained } from './entry.ts'
import { createFlood } from './flood.ts'
import type { AuditPage, AuditQuery, AuditRecord } from './schemas.ts'

/** Who did what, when, from where, and what was refused: a chain of entries that cannot lose one unseen. */
export interface Audit {
  /** Adds an entry; it is on disk when this settles. Never rejects: what was done is done. */
  record(facts: AuditFacts): Promise<void>
  page(query: AuditQuery): AuditPage
  close(): Promise<void>
}

interface Options {
  readonly store: Store
  readonly log: Pick<ServiceLog, 'error'>
  /** Days after which entries are forgotten. */
  readonly days: number
}

/** Entries that one request looks through at most, before it answers with what it has and where to go on. */
const lookThrough = 20_000
const step = 500
const day = 86_400_000

const matches = ({ user, operation, outcome, from, to }: AuditQuery): ((entry: AuditRecord) => boolean) => {
  const prefix = operation?.endsWith('*') ? operation.slice(0, -1) : undefined
  return entry =>
    (user === undefined || entry.user_id === user || entry.username === user.toLowerCase()) &&
    (operation === undefined ||
      (prefix === undefined ? entry.operation === operation : entry.operation.startsWith(prefix))) &&
    (outcome === undefined || entry.outcome === outcome) &&
    (from === undefined || Date.parse(entry.at) >= Date.parse(from)) &&
    (to === undefined || Date.parse(entry.at) <= Date.parse(to))
}

export const openAudit = ({ store, log, days }: Options): Audit => {
  const entries = store.log('audit', AuditEntry)
  let lastWrite: Promise<void> = Promise.resolve()

  const write = (facts: AuditFacts): Promise<void> => {
    lastWrite = store
      .commit([entries.append((seq, previous) => chained(facts, seq, previous))])
      .catch((error: unknown) =>
        log.error('Nothing could be added to the audit: {reason}', {
          reason: messageOf(error),
          operation: facts.operation,
        }),
      )
    return lastWrite
  }
  const flood = createFlood<AuditFacts>((facts, repeated) => void write({ ...facts, repeated }))

  const forgetOld = async (): Promise<void> => {
    const limit = new Date(Date.now() - days * day).toISOString()
    let upTo = 0
    for (;;) {
      const old = entries.read(Math.max(upTo, entries.first() - 1), step).filter(({ at }) => at < limit)
      if (old.length > 0) upTo = old.at(-1)!.seq
      if (old.length < step) break
    }
    if (upTo > 0) await store.commit([entries.forget(upTo)]).catch(() => undefined)
  }
  const timer = setInterval(() => void forgetOld(), day)
  timer.unref()
  void forgetOld()

  const hasMore = (at: number, ascending: boolean): boolean => (ascending ? at < entries.head() : at > entries.first())

  return {
    async record(facts) {
      const kind = `${facts.address} ${facts.operation} ${facts.user_id}`
      if (facts.outcome !== 'refused' || flood.admit(kind, facts)) await write(facts)
    },
    page(query) {
      const wanted = matches(query)
      const found: AuditRecord[] = []
      const ascending = query.after !== undefined
      let at = query.after ?? query.before ?? entries.head() + 1
      for (let seen = 0; seen < lookThrough; seen += step) {
        const some = ascending ? entries.read(at, step) : entries.readBack(at, step)
        for (const entry of some) {
          at = entry.seq
          if (wanted(entry)) found.push(entry)
          if (found.length === query.limit) return { entries: found, ...(hasMore(at, ascending) && { next: at }) }
        }
        if (some.length < step) return { entries: found }
      }
      return { entries: found, next: at }
    },
    async close() {
      clearInterval(timer)
      flood.close()
      await lastWrite
    },
  }
}
