import type { Services } from '#lib/services.ts'
import { unfollowed, type Work } from '#lib/work.ts'
import { auditedWork } from './actions.ts'
import { ContentReply } from './content.ts'
import { Encoded } from './encoded.ts'
import type { Route } from './endpoint.ts'
import type { AskedFilter } from './filter.ts'
import { parseIfMatch } from './if-match.ts'
import { type BegunJob, JobStarted, prefersJob } from './job-started.ts'
import type { AppOptions, OnceRequest } from './options.ts'
import { type Exchange, stepsOf } from './steps.ts'
import { Stream } from './stream.ts'
import { Upgrade } from './upgrade.ts'

/** The handler's services and no others, looked up once. A missing one is a mistake in the wiring. */
export const pick = ({ id, endpoint }: Route, services: Partial<Services>): Services => {
  const missing = endpoint.uses.filter(name => !services[name])
  if (missing.length > 0) throw new Error(`${id} uses ${missing.join(', ')}, which this program does not provide`)
  return Object.fromEntries(endpoint.uses.map(name => [name, services[name]])) as unknown as Services
}

const filterIn = async (request: Request, { parseFilter }: AppOptions): Promise<AskedFilter | undefined> => {
  const text = request.headers.get('x-filter')
  return text && parseFilter ? { text, keep: await parseFilter(text) } : undefined
}

/** Leaves of a list what the request's X-Filter asks for; without one the list is left as it is. */
const narrowed = async (request: Request, list: unknown, options: AppOptions): Promise<unknown> => {
  const filter = await filterIn(request, options)
  if (!filter) return list
  const items = list instanceof Encoded ? JSON.parse(list.text) : list
  return (items as readonly unknown[]).filter(filter.keep)
}

const onceOf = (
  key: string,
  asJob: boolean,
  { id, endpoint }: Route,
  { caller, params, query, body }: Exchange,
): OnceRequest => ({
  key,
  caller: caller!.id,
  operation: asJob ? `${id} as a job` : id,
  content: [params, query, body],
  secret: endpoint.secretReply === true,
})

/** The call of a route as one function: its steps in order, then its handler. */
export const pipeline = (route: Route, options: AppOptions): ((exchange: Exchange) => Promise<unknown>) => {
  const { endpoint } = route
  if (endpoint.filter && !options.parseFilter) throw new Error(`${route.id} takes a filter, which nobody here reads`)
  const services = pick(route, options.services)
  const steps = stepsOf(endpoint, options.authenticate, origin => options.cors?.allows(origin) ?? false)
  return async exchange => {
    for (const step of steps) {
      const pending = step(exchange)
      if (pending) await pending
    }
    const call = {
      params: exchange.params,
      query: exchange.query,
      body: exchange.body,
      caller: exchange.caller,
      bearer: exchange.bearer,
      address: exchange.address,
      again: exchange.again,
      // Functions, not getters: a literal with getters makes a new hidden class each time, which holds the whole request
      // until the next collection of the old generation.
      filter: endpoint.filter === 'handled' ? await filterIn(exchange.request, options) : undefined,
      ifMatch: () => parseIfMatch(exchange.request.headers.get('if-match')),
      lastEventId: () => exchange.request.headers.get('last-event-id') ?? undefined,
      identified: (who: NonNullable<Exchange['identified']>) => void (exchange.identified = who),
      signal: () => exchange.request.signal,
      work: unfollowed,
    }
    const { caller, params, query, body } = exchange
    const kind = options.startJob && endpoint.job
    const asJob = kind !== undefined && (kind.detached === true || prefersJob(exchange.request))
    const perform = (work: Work): unknown => endpoint.handle({ ...call, work }, services)
    const begin = (work: (work: Work) => unknown): Promise<BegunJob> =>
      options.startJob!({ operation: route.id, kind: kind!, caller: caller!, params, query, body }, work)
    const handle = asJob
      ? async () =>
          (await begin(auditedWork(options.audit, route, { ...call, method: exchange.request.method }, perform))).job
      : kind?.always
        ? async () => (await begin(perform)).result
        : () => endpoint.handle(call, services)
    const key = endpoint.effect === 'change' && options.runOnce ? exchange.request.headers.get('idempotency-key') : null
    const pending = key !== null && caller ? options.runOnce!(onceOf(key, asJob, route, exchange), handle) : handle()
    const whole = pending instanceof Promise ? await pending : pending
    if (asJob) return new JobStarted(whole as JobStarted['job'])
    const value = endpoint.filter === true ? await narrowed(exchange.request, whole, options) : whole
    if (!options.checkReplies) return value
    const isJson = ![Encoded, ContentReply, Stream, Upgrade].some(kind => value instanceof kind)
    return isJson ? endpoint.reply.parse(value) : value
  }
}
