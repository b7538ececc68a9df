import * as z from 'zod'
import { encodeSegment, toServedPath } from '#lib/calls/paths.ts'
import type { RequestContext } from '#lib/http/context.ts'
import type { Route } from '#lib/http/endpoint.ts'
import { maxWait } from '#lib/http/prefer.ts'

/** What a forwarded request says about its host. This service reads it, and does not send it on. */
export interface HostChoice {
  readonly host?: string | undefined
  readonly host_labels?: string | undefined
}

/** A request as it is sent to a host. */
export interface ForwardedRequest {
  readonly choice: HostChoice
  readonly method: string
  readonly path: string
  readonly query: URLSearchParams
  readonly body: unknown
  readonly headers: Readonly<Record<string, string>>
}

/** The path of the route with exactly these parameters: a route can have several paths. */
const findPath = ({ endpoint }: Route, method: string, names: readonly string[]): string => {
  const pairs = [`${endpoint.method} ${endpoint.path}`, ...(endpoint.also ?? [])].map(pair => pair.split(' '))
  const matching = pairs.filter(([, path = '']) => {
    const own = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)
    return own.length === names.length && own.every(name => names.includes(name))
  })
  return (matching.find(([own]) => own === method) ?? matching[0])?.[1] ?? endpoint.path
}

const definedEntries = (part: unknown): readonly (readonly [string, unknown])[] =>
  Object.entries<unknown>(Object(part)).filter(([, value]) => value !== undefined)

const passedHeaders = ['Idempotency-Key', 'If-Match', 'Content-Range', 'Repr-Digest', 'Want-Repr-Digest']

/** The headers of a request that mean the same to the host. */
const readHeaders = (context: RequestContext): Readonly<Record<string, string>> => {
  const passed = passedHeaders.flatMap(name => {
    const value = context.header(name.toLowerCase())
    return value === null ? [] : [[name, value] as const]
  })
  const { waitLimit } = context.progress
  return {
    ...Object.fromEntries(passed),
    // A job waits without a limit, and a request to a host does not.
    ...(waitLimit && { Prefer: `wait=${Math.min(Math.ceil(waitLimit.milliseconds / 1000), maxWait)}` }),
  }
}

/** Whether a request makes something new, so that the caller or this service chooses the host. */
export const needsPlacement = ({ endpoint: { effect, params, uses } }: Route): boolean =>
  effect === 'change' && !uses.includes('catalogCache') && !params

/** The schema of a body that can name the host too; undefined where `host` is a member of the endpoint itself. */
export const findBodyForHost = (route: Route): z.ZodObject | undefined => {
  const { body } = route.endpoint
  return needsPlacement(route) && body instanceof z.ZodObject && !('host' in body.shape) ? body : undefined
}

/**
 * Makes the request for a host from a request whose parts are parsed, with the same method, path, query and body. `route` is the
 * route before it was made to forward.
 */
export const toForwardedRequest = (route: Route, context: RequestContext): ForwardedRequest => {
  const { host, host_labels, ...query }: HostChoice & Record<string, unknown> = Object(context.query)
  const mayNameHost = findBodyForHost(route) !== undefined
  const { host: hostOfBody, ...body }: HostChoice & Record<string, unknown> = mayNameHost ? Object(context.body) : {}
  const params = definedEntries(context.params)
  const path = findPath(
    route,
    context.method,
    params.map(([name]) => name),
  )
  const values = Object.fromEntries(params)
  return {
    choice: { host: host ?? hostOfBody, host_labels },
    method: context.method === 'HEAD' ? 'GET' : context.method,
    path: toServedPath(path.replace(/\{(\w+)\}/g, (_, name: string) => encodeSegment(String(values[name])))),
    query: new URLSearchParams(definedEntries(query).map(([name, value]) => [name, String(value)])),
    body: mayNameHost && context.body !== undefined ? body : context.body,
    headers: readHeaders(context),
  }
}
