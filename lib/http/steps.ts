import { findMissingRight } from '#lib/access/requirement.ts'
import type { Authenticate } from '#lib/access/credential.ts'
import type { Principal } from '#lib/access/principal.ts'
import { ServiceError } from '#lib/errors.ts'
import { readBody } from './body.ts'
import type { RequestContext } from './context.ts'
import type { Endpoint } from './endpoint.ts'
import { createInvalidInputError } from '#lib/calls/statuses.ts'
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

/** Parses the X-Filter header. Throws `invalid`. */
export const readFilter = async (
  text: string,
  { reply }: Endpoint,
  { parseFilter }: Pick<AppOptions, 'parseFilter'>,
): Promise<ParsedFilter> => ({ text, matches: await parseFilter!(text, createFieldCheck(reply)) })

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

/**
 * The steps between the router and the handler of an endpoint, in order. A step is present only when the contract needs it.
 * Authorization comes before any part of the request is parsed.
 */
export const selectSteps = (endpoint: Endpoint, options: AppOptions, services: Services): readonly Step[] => {
  const { access, effect, params, query, body, bodyLimit } = endpoint
  const steps: Step[] = []
  if (effect === 'change') steps.push(refuseUnintendedGet(origin => options.cors?.allows(origin) ?? false))
  if (access !== 'public') steps.push(authorize(access, options.authenticate))
  if (params) steps.push(context => void (context.params = parsePart('params', params, context.params)))
  if (endpoint.admit)
    steps.push(context => endpoint.admit!({ header: name => context.header(name), params: context.params }, services))
  if (query)
    steps.push(context => void (context.query = parsePart('query', query, Object.fromEntries(context.searchParams()))))
  if (body) {
    steps.push(context => readBody(context, value => void (context.body = parsePart('body', body, value)), bodyLimit))
    // The sender decides how long the body takes, so the rights are checked again after it.
    if (access !== 'public') steps.push(authorize(access, options.authenticate))
  }
  if (endpoint.filter === 'handled')
    steps.push(context => {
      const text = context.header('x-filter')
      return text ? readFilter(text, endpoint, options).then(filter => void (context.filter = filter)) : undefined
    })
  return steps
}
