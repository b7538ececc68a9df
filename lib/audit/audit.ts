import { messageOf } from '#lib/errors.ts'
import type { Log as ServiceLog } from '#lib/platform/log.ts'
import type { Store } from '#lib/storage/store.ts'
import { AuditEntry, type AuditFacts, chained } from './entry.ts'
import { createFlood } from './flood.ts'
import type { AuditPage, AuditQuery, AuditRecord } from './schemas.ts'

/** Who did what, when, from where, and what was refused: a chain of entries that cannot lose one unseen. */
export interface Audit {
  /**
   * Adds an entry. One of what was done is on disk when this settles; refusals are written together, a moment later, so
   * that nobody can make the disk the others' bottleneck. Never rejects: what was done is done.
   */
  record(facts: AuditFacts): Promise<void>
  page(query: AuditQuery): Promise<AuditPage>
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
/** Milliseconds that a refusal may wait for others. */
const delay = 100
const portion = 32

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
  let waiting: AuditFacts[] = []
  let timer: NodeJS.Timeout | undefined
  let lastWrite: Promise<void> = Promise.resolve()

  const write = (facts: readonly AuditFacts[]): Promise<void> =>
    store
      .commit(facts.map(one => entries.append((seq, previous) => chained(one, seq, previous))))
      .catch((error: unknown) =>
        log.error('{count} entries could not be added to the audit: {reason}', {
          count: facts.length,
          reason: messageOf(error),
        }),
      )
  const flush = (): Promise<void> => {
    clearTimeout(timer)
    timer = undefined
    const facts = waiting
    waiting = []
    // In portions, with a turn for everybody else between them.
    for (let at = 0; at < facts.length; at += portion) {
      const some = facts.slice(at, at + portion)
      lastWrite = lastWrite.then(() => write(some))
    }
    return lastWrite
  }
  const later = (facts: AuditFacts): void => {
    waiting.push(facts)
    timer ??= setTimeout(() => void flush(), delay)
  }
  const flood = createFlood<AuditFacts>((facts, repeated) => later({ ...facts, repeated }))

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
  const cleaning = setInterval(() => void forgetOld(), day)
  cleaning.unref()
  void forgetOld()

  const hasMore = (at: number, ascending: boolean): boolean => (ascending ? at < entries.head() : at > entries.first())

  return {
    async record(facts) {
      if (facts.outcome === 'refused') {
        if (flood.admit(`${facts.address} ${facts.operation} ${facts.user_id}`, facts)) later(facts)
        return
      }
      waiting.push(facts)
      await flush()
    },
    async page(query) {
      await flush()
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
      clearInterval(cleaning)
      flood.close()
      await flush()
    },
  }
}
