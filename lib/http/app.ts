import { Hono } from 'hono'
import { getPath } from 'hono/utils/url'
import { mayCall } from '#lib/auth/access.ts'
import type { Principal } from '#lib/auth/principal.ts'
import { ServiceError } from '#lib/errors.ts'
import type { Services } from '#lib/services.ts'
import { unfollowed, type Work } from '#lib/work.ts'
import { actionOf, type Audit, auditedWork } from './actions.ts'
import type { Cors } from './cors.ts'
import { Encoded } from './encoded.ts'
import type { Call, Route } from './endpoint.ts'
import { toServiceError } from './errors.ts'
import type { Filter } from './filter.ts'
import { methodTable, pairsOf } from './method-table.ts'
import type { Observation } from './observation.ts'
import { type JobRequest, JobStarted, prefersJob } from './job-started.ts'
import { normalPath, routerPath, servedPath } from './paths.ts'
import { createReplies } from './reply.ts'
import { Stream } from './stream.ts'
import { Upgrade } from './upgrade.ts'
import { type Authenticate, bearerOf, type Exchange, stepsOf } from './steps.ts'

/** A request that must have one effect however often it comes. */
export interface OnceRequest {
  /** The value of Idempotency-Key. */
  readonly key: string
  /** The caller's id: keys of different callers do not meet. */
  readonly caller: string
  readonly operation: string
  /** What the request asks for: the same key with another content is a mistake. */
  readonly content: unknown
  /** The reply holds a secret, which is shown once and kept nowhere. */
  readonly secret: boolean
}

export interface AppOptions {
  readonly routes: readonly Route[]
  readonly services: Partial<Services>
  readonly authenticate: Authenticate
  /** Reads an X-Filter header; needed where an endpoint takes one. */
  readonly parseFilter?: (header: string) => Promise<Filter>
  readonly observe: (what: Observation) => void
  /** Which pages of other sites may ask; none when left out. */
  readonly cors?: Cors | undefined
  /** Headers of every reply, beside those of security that all have. */
  readonly headers?: Readonly<Record<string, string>>
  /** Gives a repeated Idempotency-Key the answer of the first request; without it the header counts for nothing. */
  readonly runOnce?: <T>(once: OnceRequest, work: () => Promise<T> | T) => Promise<T>
  /** Does a call as a job; without it nobody's preference for one is met. */
  readonly startJob?: (request: JobRequest, work: (work: Work) => unknown) => Promise<{ readonly id: string }>
  /** Keeps what was done and refused; the reply waits for it. */
  readonly audit?: Audit
  /** Hold every reply to its schema: costs a parse per reply, for tests and development. */
  readonly checkReplies: boolean
}

/** The application: answers any request and never rejects. */
export interface App {
  fetch(request: Request, from?: Origin): Response | Promise<Response>
  /** Answers a request to become a WebSocket: what takes the socket, or the refusal. */
  upgrade(request: Request, from: Origin): Promise<Upgrade | Response>
  /** Calls an endpoint again that was called before, for somebody who may still call it. Throws what it refuses with. */
  repeat(call: RepeatedCall, work: Work): Promise<unknown>
}

/** A call of which the parts were parsed, and kept. */
export interface RepeatedCall extends Pick<Call, 'params' | 'query' | 'body'> {
  /** The route's id. */
  readonly operation: string
  readonly caller: Principal
}

/** Where a request comes from. */
export interface Origin {
  /** The caller's IP address. */
  readonly address: string
}

/** The handler's services and no others, looked up once. A missing one is a mistake in the wiring. */
const pick = ({ id, endpoint }: Route, services: Partial<Services>): Services => {
  const missing = endpoint.uses.filter(name => !services[name])
  if (missing.length > 0) throw new Error(`${id} uses ${missing.join(', ')}, which this program does not provide`)
  return Object.fromEntries(endpoint.uses.map(name => [name, services[name]])) as unknown as Services
}

/** Leaves of a list what the request's X-Filter asks for; without one the list is left as it is. */
const narrowed = async (request: Request, list: unknown, { parseFilter }: AppOptions): Promise<unknown> => {
  const header = request.headers.get('x-filter')
  if (!header || !parseFilter) return list
  const keep = await parseFilter(header)
  const items = list instanceof Encoded ? JSON.parse(new TextDecoder().decode(list.bytes)) : list
  return (items as readonly unknown[]).filter(keep)
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
const pipeline = (route: Route, options: AppOptions): ((exchange: Exchange) => Promise<unknown>) => {
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
      lastEventId: () => exchange.request.headers.get('last-event-id') ?? undefined,
      identified: (who: NonNullable<Exchange['identified']>) => void (exchange.identified = who),
      signal: () => exchange.request.signal,
      work: unfollowed,
    }
    const { caller, params, query, body } = exchange
    const asJob = endpoint.job !== undefined && options.startJob !== undefined && prefersJob(exchange.request)
    const handle = asJob
      ? () =>
          options.startJob!(
            { operation: route.id, kind: endpoint.job!, caller: caller!, params, query, body },
            auditedWork(options.audit, route, { ...call, method: exchange.request.method }, work =>
              endpoint.handle({ ...call, work }, services),
            ),
          )
      : () => endpoint.handle(call, services)
    const key = endpoint.effect === 'change' && options.runOnce ? exchange.request.headers.get('idempotency-key') : null
    const pending = key !== null && caller ? options.runOnce!(onceOf(key, asJob, route, exchange), handle) : handle()
    const whole = pending instanceof Promise ? await pending : pending
    if (asJob) return new JobStarted(whole as JobStarted['job'])
    const value = endpoint.filter ? await narrowed(exchange.request, whole, options) : whole
    const isJson = !(value instanceof Encoded || value instanceof Stream || value instanceof Upgrade)
    return options.checkReplies && isJson ? endpoint.reply.parse(value) : value
  }
}

const nobody = async (): Promise<never> => {
  throw new ServiceError('unauthenticated', 'Nobody was looked up for this request.')
}

const notUpgraded = (): ServiceError =>
  new ServiceError('upgrade-required', 'This is a WebSocket: connect with Upgrade: websocket.', {
    headers: { Upgrade: 'websocket', Connection: 'Upgrade' },
  })

const isRefusal = (status: number): boolean => status === 401 || status === 403 || status === 429

/** Mounts every route with the same steps around each handler. */
export const createApp = (options: AppOptions): App => {
  const app = new Hono<{ Bindings: Origin }>({ getPath: request => normalPath(getPath(request)) })
  const methodsOf = methodTable(options.routes)
  const upgrading = new WeakSet<Request>()
  const upgrades = new WeakMap<Request, Upgrade>()
  const replies = createReplies(options.headers)

  /** Runs one request to its reply, whatever happens, and tells of it. */
  const answer = async (request: Request, route: Route | undefined, exchange: Exchange, run: typeof noRoute) => {
    const requestId = crypto.randomUUID()
    const begun = performance.now()
    let response: Response
    let value: unknown
    let error: unknown
    try {
      value = await run(exchange)
      if (value instanceof Upgrade) {
        upgrades.set(request, value)
        if (!upgrading.has(request)) throw notUpgraded()
        value = undefined
      }
      response = replies.success(request, value, route?.endpoint.status ?? 200, requestId)
    } catch (thrown) {
      error = thrown
      response = replies.refusal(toServiceError(thrown, requestId), requestId, route?.endpoint.oauth)
    }
    options.observe({
      requestId,
      method: request.method,
      operation: route?.id,
      caller: exchange.caller,
      address: exchange.address,
      status: response.status,
      milliseconds: performance.now() - begun,
      error,
    })
    if (options.audit && route && (route.endpoint.effect === 'change' || isRefusal(response.status)))
      await options.audit(
        actionOf(
          route,
          {
            method: request.method,
            caller: exchange.caller ?? exchange.identified,
            address: exchange.address,
            params: exchange.params,
            body: exchange.body,
          },
          { requestId, status: response.status, value, error },
        ),
      )
    return response
  }

  const noRoute = async ({ request }: Exchange): Promise<unknown> => {
    const path = normalPath(getPath(request))
    const methods = methodsOf(path)
    if (methods.length === 0) throw new ServiceError('not-found', `There is nothing at ${path}.`)
    throw new ServiceError(
      'method-not-allowed',
      `${path} does not take ${request.method}, only ${methods.join(', ')}.`,
      {
        headers: { Allow: methods.join(', ') },
      },
    )
  }

  const exchangeOf = (
    request: Request,
    { address }: Origin,
    params?: Record<string, string>,
    inQuery?: boolean,
  ): Exchange => ({
    request,
    address,
    bearer: bearerOf(request, inQuery),
    again: nobody,
    params,
    caller: undefined,
    identified: undefined,
    query: undefined,
    body: undefined,
  })

  for (const route of options.routes) {
    const run = pipeline(route, options)
    for (const [method, path] of pairsOf(route.endpoint))
      app.on(method, routerPath(servedPath(path)), context => {
        const request = context.req.raw
        // The router serves HEAD by the GET handler, which must not act.
        const acts = request.method === 'HEAD' && route.endpoint.effect === 'change'
        return answer(
          request,
          route,
          exchangeOf(request, context.env, context.req.param(), route.endpoint.tokenInQuery),
          acts ? noRoute : run,
        )
      })
  }
  app.notFound(context => answer(context.req.raw, undefined, exchangeOf(context.req.raw, context.env), noRoute))
  const upgrade: App['upgrade'] = async (request, from) => {
    upgrading.add(request)
    const response = await app.fetch(request, from)
    return upgrades.get(request) ?? response
  }
  const repeat: App['repeat'] = async ({ operation, caller, params, query, body }, work) => {
    const route = options.routes.find(({ id }) => id === operation)
    if (!route) throw new ServiceError('not-found', `${operation} is not served any more.`)
    const refusal = mayCall(route.endpoint.access, caller)
    if (refusal)
      throw new ServiceError('forbidden', `This needs ${refusal.missing}, which its owner does not have now.`)
    const call = {
      params,
      query,
      body,
      caller,
      bearer: undefined,
      address: 'local',
      again: async () => caller,
      lastEventId: () => undefined,
      identified: () => {},
      signal: () => work.signal ?? new AbortController().signal,
      work,
    }
    const { method } = route.endpoint
    return auditedWork(options.audit, route, { ...call, method }, () =>
      route.endpoint.handle(call, pick(route, options.services)),
    )(work)
  }
  const serve: App['fetch'] = (request, from = { address: '' }) => app.fetch(request, from)
  const { cors } = options
  if (!cors) return { fetch: serve, upgrade, repeat }
  return {
    upgrade,
    repeat,
    async fetch(request, from) {
      const answered = cors.preflight(request, () => methodsOf(normalPath(getPath(request))))
      if (answered) return answered
      const response = await serve(request, from)
      cors.mark(request, response)
      return response
    },
  }
}
