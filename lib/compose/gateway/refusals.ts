import type { AuditFacts } from '#lib/audit/entry.ts'
import { groupAddress } from '#lib/auth/lockout-policy.ts'

/** Refusals of one operation to one address. */
export interface CountedRefusals {
  /** What is known of the last one. */
  readonly facts: AuditFacts
  readonly count: number
}

/** Gathers what a gateway refuses, and reports it to the control, which audits it. */
export interface GatewayRefusals {
  add(facts: AuditFacts): void
  /**
   * Reports in ten seconds what is gathered until then, unless a report is on its way. Throws when the control does not take it, which
   * is not tried again: the control would be flooded.
   */
  report(): Promise<void>
}

/** Milliseconds between the first refusal and its report. The control is woken once for all refusals in it. */
const reportDelay = 10_000
/** The most kinds of refusals in a report. The others are counted together. */
const maxKinds = 50

/** Creates what gathers refusals. A gateway has no memory beyond its process, so what is gathered there is lost with it. */
export const createGatewayRefusals = (
  send: (refusals: readonly CountedRefusals[]) => Promise<void>,
): GatewayRefusals => {
  const gathered = new Map<string, CountedRefusals>()
  /** Milliseconds since 1970. No request waits for the report of another: the platform may have ended that one. */
  let reportsAt = 0
  return {
    add(facts) {
      const kind = `${facts.operation} ${groupAddress(facts.address)}`
      const key = gathered.has(kind) || gathered.size < maxKinds ? kind : 'others'
      gathered.set(key, { facts, count: (gathered.get(key)?.count ?? 0) + 1 })
    },
    async report() {
      const now = Date.now()
      if (gathered.size === 0 || now < reportsAt) return
      reportsAt = now + reportDelay
      await new Promise(resolve => setTimeout(resolve, reportDelay))
      const refusals = [...gathered.values()]
      gathered.clear()
      if (refusals.length > 0) await send(refusals)
    },
  }
}
