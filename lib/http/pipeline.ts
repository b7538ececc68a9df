import type { Services } from './services.ts'
import type { RequestContext } from './context.ts'
import { PreparedBody } from '#lib/calls/prepared-body.ts'
import type { Route } from './endpoint.ts'
import { continueWith } from '#lib/async/maybe-promise.ts'
import type { AppOptions } from './options.ts'
import { createChangeHandler } from './change-handler.ts'
import { readFilter, selectSteps } from './steps.ts'
import { SpecialReply } from '#lib/calls/special-reply.ts'
import type { ShareMemory } from './memory-share.ts'
import type { LimitWaiting } from './wait-limit.ts'

/** Runs a request up to the handler's return value, which may be a promise. Throws the refusal. */
export type Run = (context: RequestContext) => unknown

/** The services that an endpoint declares, and no others. Throws when the program does not provide one of them. */
export const pickServices = ({ id, endpoint }: Route, services: Partial<Services>): Services => {
  const missing = endpoint.uses.filter(name => !services[name])
  if (missing.length > 0) throw new Error(`${id} uses ${missing.join(', ')}, which this program does not provide`)
  // The handler sees only the services in `uses`, and the check above has found all of them.
  return Object.fromEntries(endpoint.uses.map(name => [name, services[name]])) as unknown as Services
}

/** Removes from a list the items that X-Filter does not match. */
const applyFilter = async (list: unknown, text: string, { endpoint }: Route, options: AppOptions): Promise<unknown> => {
  const filter = await readFilter(text, endpoint, options)
  const items = list instanceof PreparedBody ? JSON.parse(list.text) : list
  // An endpoint with `filter` replies with a list.
  return (items as readonly unknown[]).filter(filter.matches)
}

/** Makes the function that filters and checks the handler's value before it is sent. */
const createReplyFinisher = (
  route: Route,
  options: AppOptions,
): ((context: RequestContext, value: unknown) => unknown) => {
  const { endpoint } = route
  const { checkReplies } = options
  const check = (value: unknown): unknown =>
    checkReplies && !(value instanceof SpecialReply) ? endpoint.reply.parse(value) : value
  if (endpoint.filter !== true) return (_, value) => check(value)
  return (context, value) => {
    const text = context.header('x-filter')
    return text ? applyFilter(value, text, route, options).then(check) : check(value)
  }
}

/** Joins the steps and the handler of a route into one function. It stays synchronous until a step gives a promise. */
export const createPipeline = (
  route: Route,
  options: AppOptions,
  { limitWaiting, shareMemory }: { readonly limitWaiting: LimitWaiting; readonly shareMemory: ShareMemory },
): Run => {
  const { endpoint } = route
  if (endpoint.filter && !options.parseFilter)
    throw new Error(`${route.id} takes a filter, but the program has no parseFilter`)
  const services = pickServices(route, options.services)
  const { steps, bodyAt } = selectSteps(endpoint, options, services)
  const perform: Run =
    endpoint.effect === 'change'
      ? createChangeHandler(route, services, { ...options, limitWaiting })
      : context => endpoint.handle(context, services)
  const finish = createReplyFinisher(route, options)

  const runFrom = (context: RequestContext, first: number, hasShare = false): unknown => {
    for (let at = first; at < steps.length; at += 1) {
      if (at === bodyAt && !hasShare) return shareMemory(context, endpoint.bodyLimit, () => runFrom(context, at, true))
      const pending = steps[at]?.(context)
      if (pending) return pending.then(() => runFrom(context, at + 1, hasShare))
    }
    return continueWith(perform(context), value => finish(context, value))
  }
  return context => runFrom(context, 0)
}
