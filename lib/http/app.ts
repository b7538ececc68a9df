import { Hono } from 'hono'
import { getPath } from 'hono/utils/url'
import { ServiceError } from '#lib/errors.ts'
import { actionOf } from './actions.ts'
import type { Route } from './endpoint.ts'
import { toServiceError } from './errors.ts'
import { methodTable, pairsOf } from './method-table.ts'
import type { AppOptions } from './options.ts'
import { normalPath, routerPath, servedPath } from './paths.ts'
import { pipeline } from './pipeline.ts'
import { createRepeat, type Repeat } from './repeat.ts'
import { createReplies } from './reply.ts'
import { bearerOf, type Exchange } from './steps.ts'
import { Upgrade } from './upgrade.ts'

/** The application: answers any request and never rejects. */
export interface App {
  fetch(request: Request, from?: Origin): Response | Promise<Response>
  /** Answers a request to become a WebSocket: what takes the socket, or the refusal. */
  upgrade(request: Request, from: Origin): Promise<Upgrade | Response>
  readonly repeat: Repeat
}

/** Where a request comes from. */
export interface Origin {
  /** The caller's IP address. */
  readonly address: string
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
      const made = replies.success(request, value, route?.endpoint.status ?? 200, requestId)
      response = made instanceof Promise ? await made : made
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
  const repeat = createRepeat(options)
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
