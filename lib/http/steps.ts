import { findMissingRight } from '#lib/access/requirement.ts'
import type { Authenticate } from '#lib/access/credential.ts'
import type { RedeemTicket } from '#lib/access/session-reference.ts'
import type { Principal } from '#lib/access/principal.ts'
import { ServiceError } from '#lib/errors.ts'
import { readBody, readBodyBytes } from './body.ts'
import type { RequestContext } from './context.ts'
import type { Endpoint } from './endpoint.ts'
import { createInvalidInputError } from '#lib/calls/statuses.ts'
import { fillPath, formatTicketTarget } from '#lib/access/ticket-target.ts'
import type { ParsedFilter } from '#lib/calls/list-filter.ts'
import type { AppOptions } from './options.ts'
import type { Services } from './services.ts'
import { createFieldCheck } from './reply-fields.ts'

/** One step before the handler. Gives a promise only when it has to wait. */
type Step = (context: RequestContext) => void | Promise<void>

type IsAllowedOrigin = (origin: string) => boolean

const isCrossSite = (context: RequestContext, allows: IsAllowedOrigin): boolean => {
  const origin = context.header('origin')
  if (origin === null) return context.header('sec-fetch-site') === 'cross-site'
  return !URL.canParse(origin) || (new URL(origin).host !== context.header('host') && !allows(origin))
}

/** Refuses a GET that changes something when a browser prefetches it or a page of another site caused it. */
const refuseUnintendedGet =
  (allows: IsAllowedOrigin): Step =>
  context => {
    if (context.method !== 'GET') return
    const purpose = `${context.header('sec-purpose')} ${context.header('purpose')}`
    if (/prefetch|prerender/i.test(purpose))
      throw new ServiceError('forbidden', 'This GET changes something, so it is not served to prefetching.')
    if (isCrossSite(context, allows))
      throw new ServiceError('forbidden', 'This GET changes something, so it is not served to pages of other sites.')
  }

const authorize = (access: Endpoint['access'], authenticate: Authenticate): Step => {
  const checkAccess = (context: RequestContext, caller: Principal | undefined): void => {
    if (!caller)
      throw new ServiceError('unauthenticated', 'Send a token as Authorization: Bearer, or an API key as X-Api-Key.', {
        headers: { 'WWW-Authenticate': 'Bearer' },
      })
    context.caller = caller
    const refusal = findMissingRight(access, caller)
    if (refusal) throw new ServiceError('forbidden', `This needs ${refusal.missing}, which you do not have.`)
  }
  return context => {
    context.authenticate = authenticate
    const found = authenticate(context)
    if (found instanceof Promise) return found.then(caller => checkAccess(context, caller))
    checkAccess(context, found)
  }
}

/** Uses up the ticket in the query: the request acts in the session that the ticket was issued to. */
const useTicket =
  (path: string, redeem: RedeemTicket): Step =>
  context => {
    const query = context.searchParams()
    const ticket = query.get('ticket')
    if (ticket === null) return
    // The parameters are text until their step has parsed them.
    const target = fillPath(path, context.params as Readonly<Record<string, string>>)
    context.session = redeem(ticket, formatTicketTarget(target, query))
  }

/** Refuses a request for a WebSocket that is none. `textFor` tells which ones are answered with text instead. */
const requireUpgrade =
  (textFor: Endpoint['textFor']): Step =>
  ({ acceptUpgrade, query }) => {
    if (acceptUpgrade || textFor?.(query)) return
    throw new ServiceError('upgrade-required', 'This is a WebSocket: connect with Upgrade: websocket.', {
      headers: { Upgrade: 'websocket', Connection: 'Upgrade' },
    })
  }

/** Parses the X-Filter header. Throws `invalid`. */
export const readFilter = async (
  text: string,
  { reply }: Endpoint,
  { parseFilter }: Pick<AppOptions, 'parseFilter'>,
): Promise<ParsedFilter> => {
  // `createPipeline` refuses such an endpoint when the program starts.
  if (!parseFilter) throw new Error('This program parses no filters.')
  return { text, matches: await parseFilter(text, createFieldCheck(reply)) }
}

const parsePart = (
  part: 'params' | 'query' | 'body',
  schema: NonNullable<Endpoint['body']>,
  value: unknown,
): unknown => {
  const parsed = schema.safeParse(value)
  if (!parsed.success && value === undefined && parsed.error.issues.every(issue => issue.path.length === 0))
    throw new ServiceError('invalid', 'The request body is empty; send a JSON object.')
  if (!parsed.success) throw createInvalidInputError(part === 'params' ? 'path' : part, parsed.error.issues)
  return parsed.data
}

/** Makes the step that parses the query. Most requests have none: what an empty one is parsed to is computed once. */
const parseQuery = (schema: NonNullable<Endpoint['query']>): Step => {
  let parsedEmpty: unknown
  return context => {
    const params = context.searchParams()
    if (params.size > 0) context.query = parsePart('query', schema, Object.fromEntries(params))
    else context.query = Object.assign({}, (parsedEmpty ??= parsePart('query', schema, {})))
  }
}

/** The steps of an endpoint, and the index of the one that reads the body; undefined without a body. */
interface SelectedSteps {
  readonly steps: readonly Step[]
  readonly bodyAt: number | undefined
}

/**
 * The steps between the router and the handler of an endpoint, in order. A step is present only when the contract needs it.
 * Authorization comes before any part of the request is parsed.
 */
export const selectSteps = (endpoint: Endpoint, options: AppOptions, services: Services): SelectedSteps => {
  const { access, effect, media, params, query, body, bodyMedia, bodyLimit } = endpoint
  const steps: Step[] = []
  if (effect === 'change') steps.push(refuseUnintendedGet(origin => options.cors?.allows(origin) ?? false))
  if (endpoint.tokenInQuery && options.redeemTicket) steps.push(useTicket(endpoint.path, options.redeemTicket))
  if (access !== 'public') steps.push(authorize(access, options.authenticate))
  if (params) steps.push(context => void (context.params = parsePart('params', params, context.params)))
  const { admit } = endpoint
  if (admit) steps.push(context => admit({ header: name => context.header(name), params: context.params }, services))
  if (query) steps.push(parseQuery(query))
  // The handler of a WebSocket may open what only the WebSocket would close.
  if (media === 'websocket') steps.push(requireUpgrade(endpoint.textFor))
  const bodyAt = body && steps.length
  if (body) {
    const onBody = (context: RequestContext, value: unknown): void =>
      void (context.body = parsePart('body', body, value))
    steps.push(context =>
      bodyMedia
        ? readBodyBytes(context, bodyLimit).then(bytes => onBody(context, bytes))
        : readBody(context, value => onBody(context, value), bodyLimit),
    )
    // The sender decides how long the body takes, so the rights are checked again after it.
    if (access !== 'public') steps.push(authorize(access, options.authenticate))
  }
  if (endpoint.filter === 'handled')
    steps.push(context => {
      const text = context.header('x-filter')
      return text ? readFilter(text, endpoint, options).then(filter => void (context.filter = filter)) : undefined
    })
  return { steps, bodyAt }
}
