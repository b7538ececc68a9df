import type { Ask, Effect } from '../case.ts'
import { has, lacks } from '../expectation.ts'

/** A later GET shows this. */
export const shows = (path: string, reply: unknown, as?: string): Effect => ({
  request: ['GET', path],
  reply,
  ...(as !== undefined && { as }),
})

/** A later GET finds nothing there. */
export const gone = (path: string): Effect => ({ request: ['GET', path], status: 404 })

/** A later list has these items. */
export const lists = (path: string, ...items: readonly unknown[]): Effect => shows(path, has(...items))

/** A later list has none of these items. */
export const omits = (path: string, ...items: readonly unknown[]): Effect => shows(path, lacks(...items))

/** A later request of somebody has this status. */
export const answers = (status: number, request: Ask, as = 'root', reply?: unknown): Effect => ({
  as,
  request,
  status,
  ...(reply !== undefined && { reply }),
})

/** Types of events of which a runtime has more or fewer, or later ones, than another. */
const lateTypes: Readonly<Record<string, Pick<Effect, 'eventually' | 'varies'>>> = {
  job_manager: { varies: 'how often a job reports its progress depends on how long it takes' },
  pdfm: { eventually: true, varies: 'a control hears of the machines of a host with its next heartbeat' },
  catalog_cache: { eventually: true, varies: 'a control hears of the cache of a host with its next heartbeat' },
}

/** The event log has this event. */
export const published = (types: string, message: string, body: object = {}): Effect => ({
  ...shows(`/v1/events?types=${types}&limit=1000`, { events: has({ message, body }) }),
  ...lateTypes[types],
})

/** The latest entry of the audit about an operation says that it was done. */
export const audited = (operation: string, entry: object = {}): Effect =>
  shows(`/v1/audit?limit=1&operation=${operation}`, { entries: [{ operation, outcome: 'done', ...entry }] })

/** A GET is sent again and again until it shows this. */
export const comesToShow = (path: string, reply: unknown): Effect => ({
  request: ['GET', path],
  reply,
  eventually: true,
})
