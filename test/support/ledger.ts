import { type AuditEntry, findChainBreak } from '#lib/audit/entry.ts'
import type { AuditPage } from '#lib/audit/schemas.ts'
import type { Answer } from './harness.ts'

/** What a thing must be, undefined when it is gone. With a request under way at the kill, either of two. */
type Entry = { readonly certain: string | undefined; readonly perhaps?: string | undefined; readonly open?: true }

/** What callers were told, to be held against what is there after a kill. */
export interface Ledger {
  readonly counts: { acknowledged: number; cut: number; cutAndDone: number; audited: number }
  /** Sends a change that makes a thing `to`, and writes down what came of it. Throws when it was refused or cut off. */
  change(thing: string, to: string | undefined, send: () => Promise<Answer>): Promise<void>
  /** The things that there are for certain. */
  things(): readonly string[]
  /** Says what is lost, changed or there without a request; from then on holds what there is to be certain. */
  compare(found: ReadonlyMap<string, string>): readonly string[]
  /** Says which acknowledged requests the audit does not tell of, and where its chain is broken, since the last call. */
  compareAudit(pageAfter: (seq: number) => Promise<AuditPage>): Promise<readonly string[]>
}

export const createLedger = (): Ledger => {
  const entries = new Map<string, Entry>()
  const counts = { acknowledged: 0, cut: 0, cutAndDone: 0, audited: 0 }
  const refusals: string[] = []
  const requests = new Map<string, string>()
  let last: (AuditEntry & { seq: number }) | undefined

  return {
    counts,
    async change(thing, to, send) {
      const certain = entries.get(thing)?.certain
      entries.set(thing, { certain, perhaps: to, open: true })
      const { status, headers, body } = await send().catch((error: unknown) => {
        counts.cut += 1
        throw error
      })
      if (status >= 300) {
        refusals.push(`${thing} as ${to}: ${status} ${JSON.stringify(body)}`)
        throw new Error(refusals.at(-1))
      }
      entries.set(thing, { certain: to })
      requests.set(headers.get('x-request-id')!, `${thing} as ${to}`)
      counts.acknowledged += 1
    },
    things: () => [...entries].filter(([, { certain, open }]) => certain !== undefined && !open).map(([name]) => name),
    compare(found) {
      const wrong = refusals.splice(0)
      const strange = new Map(found)
      for (const [thing, { certain, perhaps, open }] of entries) {
        const seen = found.get(thing)
        strange.delete(thing)
        const right = open ? [certain, perhaps] : [certain]
        if (!right.includes(seen)) wrong.push(`${thing} is ${seen}, and not ${right.join(' or ')}`)
        if (open && seen !== certain) counts.cutAndDone += 1
        if (seen === undefined) entries.delete(thing)
        else entries.set(thing, { certain: seen })
      }
      for (const [thing, value] of strange) wrong.push(`${thing} is there as ${value}, and nobody made it`)
      return wrong
    },
    async compareAudit(pageAfter) {
      const wrong: string[] = []
      for (;;) {
        const { entries: page, next } = await pageAfter(last?.seq ?? 0)
        for (const entry of page) {
          const broken = findChainBreak(last, entry)
          if (broken !== undefined) wrong.push(broken)
          if (entry.outcome === 'done' && requests.delete(entry.request_id)) counts.audited += 1
          last = entry
        }
        if (next === undefined) break
      }
      for (const what of requests.values()) wrong.push(`the audit does not tell of ${what}`)
      requests.clear()
      return wrong
    },
  }
}
