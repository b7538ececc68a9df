import { findMissingRight } from '#lib/access/requirement.ts'
import type { Principal } from '#lib/access/principal.ts'
import { ServiceError } from '#lib/errors.ts'
import { getSignal, type ProgressReporter } from '#lib/async/progress.ts'
import { withAudit } from './audit.ts'
import { RequestContext } from './context.ts'
import type { Route } from './endpoint.ts'
import type { AppOptions } from './options.ts'
import { pickServices } from './pipeline.ts'

/** A request that was stored with its parts already parsed. */
interface StoredRequest {
  /** The route's id. */
  readonly operation: string
  readonly caller: Principal
  readonly params: unknown
  readonly query: unknown
  readonly body: unknown
}

/** Calls the endpoint of a stored request again, for a caller who may still call it. Throws the refusal. */
export type Replay = (call: StoredRequest, progress: ProgressReporter) => Promise<unknown>

/** The context of a stored request, which has no connection, headers or raw body any more. */
class ReplayContext extends RequestContext {
  constructor(route: Route, { caller, params, query, body }: StoredRequest) {
    super(route.endpoint.method, 'local', { route, params })
    this.query = query
    this.body = body
    this.caller = caller
    this.authenticate = () => caller
  }

  header(): null {
    return null
  }

  searchParams(): URLSearchParams {
    return new URLSearchParams()
  }

  async readBytes(): Promise<Uint8Array> {
    return new Uint8Array()
  }

  get signal(): AbortSignal {
    return getSignal(this.progress)
  }
}

export const createReplay =
  (options: AppOptions): Replay =>
  async (call, progress) => {
    const { operation, caller } = call
    const route = options.routes.find(({ id }) => id === operation)
    if (!route) throw new ServiceError('not-found', `${operation} is not served any more.`)
    const refusal = findMissingRight(route.endpoint.access, caller)
    if (refusal)
      throw new ServiceError(
        'forbidden',
        `This needs ${refusal.missing}, which the owner of the job does not have any more.`,
      )
    const context = new ReplayContext(route, call)
    context.progress = progress
    return withAudit(options.audit, context, () =>
      route.endpoint.handle(context, pickServices(route, options.services)),
    )(progress)
  }
