import { type Context, Hono } from 'hono'
import { getPath } from 'hono/utils/url'
import { ServiceError, unknownEndpoint } from '#lib/errors.ts'
import type { RequestContext } from './context.ts'
import type { Route } from './endpoint.ts'
import { clientClosedRequest } from '#lib/calls/statuses.ts'
import { FetchContext, type Origin } from './fetch-context.ts'
import { attempt, continueWith, type MaybePromise } from '#lib/async/maybe-promise.ts'
import { memoize } from '#lib/async/memoize.ts'
import { createMethodTable, listMethodPaths } from './method-table.ts'
import { createMemoryShares } from './memory-share.ts'
import type { AppOptions } from './options.ts'
import type { Outcome } from './outcome.ts'
import { normalizePath, toPathPattern, toRouterPath, toServedPath } from '#lib/calls/paths.ts'
import { createPipeline, type Run } from './pipeline.ts'
import { createReplay, type Replay } from './replay.ts'
import { createReplies } from './reply.ts'
import { listStatuses } from './endpoint-statuses.ts'
import type { Upgrade } from '#lib/calls/upgrade.ts'
import { createWaitLimit } from './wait-limit.ts'

/** The application. It answers every request and never rejects. */
export interface App {
  fetch(request: Request, from?: Origin): Response | Promise<Response>
  /** Answers a WebSocket upgrade request: gives an `Upgrade` that accepts the socket, or the refusal. */
  upgrade(request: Request, from: Origin): Promise<Upgrade | Response>
  /**
   * Answers a request without a `Request` object. `path` is in its normal form without escapes. Returns undefined, and does
   * nothing, when the route may need more than a context has. The caller then calls `fetch`.
   */
  direct(context: RequestContext, path: string): MaybePromise<Outcome> | undefined
  /** True if a request target (path and query) is a WebSocket endpoint. All other endpoints ignore the upgrade header. */
  isWebSocket(target: string): boolean
  /** Runs the handler of a stored request again, for a job that a restart interrupted. */
  readonly replay: Replay
}

/** Throws when a route answered with a status that its contract does not declare. */
const assertDocumentedStatus = ({ id, endpoint }: Route, { status }: Outcome): void => {
  if (!listStatuses(endpoint).includes(status) && status !== clientClosedRequest)
    throw new Error(`${id} answered ${status}, which its contract does not say`)
}

const isRefusal = (status: number): boolean => status === 401 || status === 403 || status === 429

/** Whether the audit records every call of an endpoint, and not only refusals. A read that names members for the audit shows secrets. */
const isAudited = ({ effect, routine, audited }: Route['endpoint']): boolean =>
  (effect === 'change' && !routine) || audited !== undefined

const toResponse = ({ status, headers, body }: Outcome): Response => new Response(body, { status, headers })

type Serve = (context: RequestContext) => MaybePromise<Outcome>

/** Returns the path parameters of a match. The router gives either a value or the index of one in `values`. */
const resolveParams = (matched: Readonly<Record<string, number | string>>, values: readonly string[] | undefined) => {
  const params: Record<string, string> = {}
  for (const name in matched) {
    const value = matched[name]
    // A match with an index has values.
    params[name] = (typeof value === 'number' ? values?.[value] : value) ?? ''
  }
  return params
}

/** Routes that only read and reply with JSON need no `Request` and no `Response`. */
const isDirect = ({ endpoint: { effect, media, tokenInQuery } }: Route): boolean =>
  effect === 'read' && media === undefined && tokenInQuery === undefined

/** Creates the application: mounts every route, with the same steps around each handler. */
export const createApp = (options: AppOptions): App => {
  const app = new Hono<{ Bindings: Origin }>({ getPath: request => normalizePath(getPath(request)) })
  const { methodsOf, shadowed } = createMethodTable(options.routes)
  const replies = createReplies(options.headers)
  const { cors } = options
  const limits = { limitWaiting: createWaitLimit(), shareMemory: createMemoryShares() }
  const openApiHint = options.routes.some(({ id }) => id === 'openapi/show')
    ? ' /api/openapi.json tells what there is.'
    : ''

  /** Reports an answered request to the observer and the audit. The reply waits until the audit entry is stored. */
  const completeRequest = (context: RequestContext, outcome: Outcome): MaybePromise<Outcome> => {
    const { route, preferenceApplied, setCookie } = context
    if (preferenceApplied) outcome.headers['Preference-Applied'] = preferenceApplied
    if (setCookie) outcome.headers['Set-Cookie'] = setCookie
    if (!context.acceptUpgrade) cors?.addHeaders(context.header('origin'), outcome.headers)
    options.onOutcome(context, outcome)
    if (!options.audit || !route || (!isAudited(route.endpoint) && !isRefusal(outcome.status))) return outcome
    return options.audit.record(context, outcome).then(() => outcome)
  }

  /** Runs a request and makes its outcome. An error becomes a refusal. */
  const answer = (context: RequestContext, run: Run): MaybePromise<Outcome> => {
    const startedAt = performance.now()
    const requestId = crypto.randomUUID()
    const pending = attempt(
      () => continueWith(run(context), value => replies.success(context, value, requestId)),
      thrown => replies.refusal(context, thrown, requestId),
    )
    return continueWith(pending, outcome => {
      outcome.milliseconds = performance.now() - startedAt
      return completeRequest(context, outcome)
    })
  }

  const refuseUnknownRoute =
    (path: string, method: string): Run =>
    () => {
      const methods = methodsOf(path)
      if (methods.length === 0) {
        const message = `There is nothing at ${path}.${openApiHint}`
        throw new ServiceError('not-found', message, { extra: { error: unknownEndpoint, error_description: message } })
      }
      throw new ServiceError('method-not-allowed', `${path} does not take ${method}, only ${methods.join(', ')}.`, {
        headers: { Allow: methods.join(', ') },
      })
    }
  const refuse = (request: Request, context: RequestContext): MaybePromise<Response> =>
    continueWith(answer(context, refuseUnknownRoute(normalizePath(getPath(request)), request.method)), toResponse)

  // Only `assertDocumentedStatus` throws past `answer`, and it runs in tests alone.
  app.onError(error => {
    throw error
  })
  for (const { path, methods } of shadowed)
    app.on([...methods], toRouterPath(path), ({ req: { raw }, env }) => refuse(raw, new FetchContext(raw, env)))
  const directRoutes = new Map<unknown, { readonly route: Route; readonly serve: Serve }>()
  for (const route of options.routes) {
    const run = createPipeline(route, options, limits)
    const serve: Serve = context => {
      const outcome = answer(context, run)
      if (!options.checkReplies || context.acceptUpgrade) return outcome
      return continueWith(outcome, checked => {
        assertDocumentedStatus(route, checked)
        return checked
      })
    }
    for (const [method, path] of listMethodPaths(route.endpoint)) {
      const handle = ({ req, env }: Context<{ Bindings: Origin }>): MaybePromise<Response> => {
        const context = new FetchContext(req.raw, env, { route, params: req.param() })
        // The router answers HEAD with the handler for GET. A HEAD must not change anything.
        if (req.raw.method === 'HEAD' && route.endpoint.effect === 'change') return refuse(req.raw, context)
        return continueWith(serve(context), toResponse)
      }
      if (isDirect(route)) directRoutes.set(handle, { route, serve })
      app.on(method, toRouterPath(toServedPath(path)), handle)
    }
  }
  // Clients poll the same paths, so the router's matches are cached.
  const createRouteFinder = (method: string) =>
    memoize(1_000, path => {
      const [matches, values] = app.router.match(method, path)
      const [[handler] = [], indexes = {}] = matches[0] ?? []
      const mounted = directRoutes.get(handler)
      return mounted ? { ...mounted, params: resolveParams(indexes, values) } : null
    })
  const routeFinders = new Map(['GET', 'POST'].map(method => [method, createRouteFinder(method)] as const))
  app.notFound(({ req: { raw }, env }) => refuse(raw, new FetchContext(raw, env)))

  const webSockets = options.routes
    .filter(({ endpoint }) => endpoint.media === 'websocket')
    .flatMap(({ endpoint }) => listMethodPaths(endpoint).map(([, path]) => toPathPattern(toServedPath(path))))

  return {
    fetch(request, from = { address: '' }) {
      const preflight = cors?.preflight(request, () => methodsOf(normalizePath(getPath(request))))
      return preflight ?? options.answerPage?.(request) ?? app.fetch(request, from)
    },
    async upgrade(request, from) {
      let upgrade: Upgrade | undefined
      const response = await app.fetch(request, { ...from, acceptUpgrade: accepted => void (upgrade = accepted) })
      return upgrade ?? response
    },
    direct(context, path) {
      const found = routeFinders.get(context.method)?.(path)
      if (!found) return undefined
      context.route = found.route
      context.params = found.params
      return found.serve(context)
    },
    isWebSocket(target) {
      const path = normalizePath(target.replace(/\?.*/s, ''))
      return webSockets.some(pattern => pattern.test(path))
    },
    replay: createReplay(options),
  }
}
