import { mayCall } from '#lib/auth/access.ts'
import type { Principal } from '#lib/auth/principal.ts'
import { ServiceError } from '#lib/errors.ts'
import type { Work } from '#lib/work.ts'
import { auditedWork } from './actions.ts'
import type { Call } from './endpoint.ts'
import type { AppOptions } from './options.ts'
import { pick } from './pipeline.ts'

/** A call of which the parts were parsed, and kept. */
interface RepeatedCall extends Pick<Call, 'params' | 'query' | 'body'> {
  /** The route's id. */
  readonly operation: string
  readonly caller: Principal
}

/** Calls an endpoint again that was called before, for somebody who may still call it. Throws what it refuses with. */
export type Repeat = (call: RepeatedCall, work: Work) => Promise<unknown>

export const createRepeat =
  (options: AppOptions): Repeat =>
  async ({ operation, caller, params, query, body }, work) => {
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
      filter: undefined,
      ifMatch: () => undefined,
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
