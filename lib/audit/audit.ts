import { addressGroup } from '#lib/auth/lockout-policy.ts'
import { messageOf } from '#lib/errors.ts'
import type { Log as ServiceLog } from '#lib/platform/log.ts'
import type { Store } from '#lib/storage/store.ts'
import { AuditEntry, type AuditFacts, chained } from './entry.ts'
import { createFlood } from './flood.ts'
import type { AuditPage, AuditQuery, AuditRecord } from './schemas.ts'

/** Who did what, when, from where, and what was refused: a chain of entries that cannot lose one unseen. */
export interface Audit {
  /**
   * Adds an entry. One of what was done is on disk when this settles; refusals and failures are written together, a moment
   * later, so that nobody can make the disk the others' bottleneck. Never rejects: what was done is done.
   */
  record(facts: AuditFacts): Promise<void>
  page(query: AuditQuery): Promise<AuditPage>
  close(): Promise<void>
}

interface Options {
  readonly store: Store
  readonly log: Pick<ServiceLog, 'error'>
  /** How far it goes back: days, and entries. */
  readonly keep: { readonly days: number; readonly entries: number }
}

/** Entries that one request looks through at most, before it answers with what it has and where to go on. */
const lookThrough = 20_000
const step = 500
const day = 86_400_000
/** Milliseconds that a refusal may wait for others. */
const delay = 100
const portion = 4

const matches = ({ user, operation, outcome, from, to }: AuditQuery): ((entry: AuditRecord) => boolean) => {
  const prefix = operation?.endsWith('*') ? operation.slice(0, -1) : undefined
  return entry =>
    (user === undefined || entry.user_id === user || entry.username?.toLowerCase() === user.toLowerCase()) &&
    (operation === undefined ||
      (prefix === undefined ? entry.operation === operation : entry.operation.startsWith(prefix))) &&
    (outcome === undefined || entry.outcome === outcome) &&
    (from === undefined || Date.parse(entry.at) >= Date.parse(from)) &&
    (to === undefined || Date.parse(entry.at) <= Date.parse(to))
}

export const openAudit = ({ store, log, keep }: Options): Audit => {
  const entries = store.log('audit', AuditEntry)
  let waiting: AuditFacts[] = []
  let timer: NodeJS.Timeout | undefined

  const write = (facts: readonly AuditFacts[]): Promise<void> =>
    store
      .commit(facts.map(one => entries.append((seq, previous) => chained(one, seq, previous))))
      .catch((error: unknown) =>
        log.error('{count} entries could not be added to the audit: {reason}', {
          count: facts.length,
          reason: messageOf(error),
        }),
      )
  const flush = async (): Promise<void> => {
    clearTimeout(timer)
    timer = undefined
    const facts = waiting
    waiting = []
    // In portions, with a turn for everybody else between them.
    for (let at = 0; at < facts.length; at += portion) await write(facts.slice(at, at + portion))
  }
  let flushing: Promise<void> = Promise.resolve()
  const settled = (): Promise<void> => (flushing = flushing.then(flush))
  const later = (facts: AuditFacts): void => {
    waiting.push(facts)
    timer ??= setTimeout(() => void settled(), delay)
  }
  const flood = createFlood<AuditFacts>((facts, repeated) => later({ ...facts, repeated }))

  const forgetOld = async (): Promise<void> => {
    const limit = new Date(Date.now() - keep.days * day).toISOString()
    let upTo = Math.max(0, entries.head() - keep.entries)
    for (;;) {
      const old = entries.read(Math.max(upTo, entries.first() - 1), step).filter(({ at }) => at < limit)
      if (old.length > 0) upTo = old.at(-1)!.seq
      if (old.length < step) break
      await new Promise(resolve => setImmediate(resolve))
    }
    if (upTo >= entries.first()) await store.commit([entries.forget(upTo)])
  }
  const clean = (): void =>
    void forgetOld().catch((error: unknown) =>
      log.error('Old entries of the audit could not be forgotten: {reason}', { reason: messageOf(error) }),
    )
  const cleaning = setInterval(clean, day)
  cleaning.unref()
  clean()

  const hasMore = (at: number, ascending: boolean): boolean => (ascending ? at < entries.head() : at > entries.first())

  return {
    async record(facts) {
      // With what waits, so that entries stand in the order of their times.
      if (facts.outcome === 'done') return write([...waiting.splice(0), facts])
      if (flood.admit(`${facts.operation} ${facts.user_id}`, addressGroup(facts.address), facts)) later(facts)
    },
    async page(query) {
      await settled()
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
      await settled()
    },
  }
}
