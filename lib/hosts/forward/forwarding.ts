import type { DeletionReply } from '#lib/calls/deletion-reply.ts'
import type { PreparedBody } from '#lib/calls/prepared-body.ts'
import { toServedPath } from '#lib/calls/paths.ts'
import type { RequestContext } from '#lib/http/context.ts'
import type { Route } from '#lib/http/endpoint.ts'
import type * as z from 'zod'
import type { HostTable } from '../host-table.ts'
import { toRecordOfHost } from '../machine-records.ts'
import type { StoredHost } from '../stored-host.ts'
import { createAskEveryHost } from './every-host.ts'
import { createFindMachineHost, fanOutTimeout } from './find-machine.ts'
import { type ForwardedRequest, toForwardedRequest } from './forwarded-request.ts'
import { type AskHost, createAskHost, type Fetch } from './host-client.ts'
import { unwrapReply } from './host-refusal.ts'
import { createFollowHostJob, maxJobBytes } from './job-of-host.ts'
import { listByHost, mergeCaches, mergeDeletions, mergeMachines } from './merged-replies.ts'
import { placeMachine } from './placement.ts'
import type { SignAssertion } from '#lib/auth/assertions/sign-assertion.ts'

/**
 * Sends requests that need a host to the hosts. The caller is authorized and the request is parsed before, as for every request;
 * the host gets the rights that the caller has here. Each method throws what the host refuses, and `unavailable` for a host that
 * does not answer.
 */
export interface Forwarding {
  /** Sends the request to the host that it names, to that of its machine, or to one that can take a new machine. */
  forward(route: Route, context: RequestContext): Promise<unknown>
  listMachines(context: RequestContext): Promise<PreparedBody>
  /** The record of a machine, as an array of one. */
  showMachine(route: Route, context: RequestContext): Promise<unknown>
  /** The license of the host that the query names, or one entry of each host. */
  readLicenses(route: Route, context: RequestContext): Promise<unknown>
  listCaches(context: RequestContext): Promise<readonly object[]>
  /** Deletes from the caches of all hosts, or of the host that the query names. */
  removeFromCaches(route: Route, context: RequestContext): Promise<z.infer<typeof DeletionReply>>
}

interface Options {
  readonly table: HostTable
  readonly fetch: Fetch
  readonly sign: SignAssertion
}

/** Milliseconds that a host has for a read. */
const readTimeout = 30_000
/** Milliseconds that a host has for a change whose caller waits. */
const changeTimeout = 900_000

/** What the body of a forwarded request says about the host that it needs. */
interface PlacedBody {
  readonly uuid?: string | undefined
  readonly architecture?: string | undefined
}

export const createForwarding = ({ table, fetch, sign }: Options): Forwarding => {
  const ask: AskHost = createAskHost({ table, fetch, sign })
  const askEveryHost = createAskEveryHost({ table, ask })
  const findMachineHost = createFindMachineHost({ table, ask })
  const followJob = createFollowHostJob({ ask, getHost: table.get })

  const chooseHost = async (
    { endpoint }: Route,
    { params, caller, signal }: RequestContext,
    { choice, body }: ForwardedRequest,
  ): Promise<StoredHost> => {
    if (choice.host !== undefined) return table.find(choice.host)
    const { id }: { id?: string } = Object(params)
    const { uuid, architecture }: PlacedBody = Object(body)
    const machine = endpoint.path.startsWith('/v1/machines/') ? id : uuid
    if (machine !== undefined) return findMachineHost(machine, caller!, endpoint.effect === 'read' ? signal : undefined)
    return placeMachine(table, { labels: choice.host_labels, architecture })
  }

  /** Sends a request whose job here waits for the job on the host. The key makes a repeated request join the same job. */
  const runAsJob = async (host: StoredHost, context: RequestContext, request: ForwardedRequest): Promise<unknown> => {
    const { progress } = context
    const user = context.caller!
    const headers = { ...request.headers, Prefer: 'respond-async', 'Idempotency-Key': progress.id! }
    const reply = await ask(host, user, { ...request, headers, timeout: readTimeout, maxReplyBytes: maxJobBytes })
    const started = unwrapReply(host, reply)
    return reply.status === 202 && reply.headers.has('location')
      ? followJob({ host, user, started, progress })
      : started
  }
  const send = async (route: Route, context: RequestContext) => {
    const request = toForwardedRequest(route, context)
    const host = await chooseHost(route, context, request)
    if (context.progress.id !== undefined && route.endpoint.job)
      return { host, body: await runAsJob(host, context, request) }
    const isRead = route.endpoint.effect === 'read'
    const reply = await ask(host, context.caller!, {
      ...request,
      // A change that has begun goes on when its caller disconnects.
      signal: isRead ? context.signal : undefined,
      timeout: isRead ? readTimeout : changeTimeout,
    })
    return { host, body: unwrapReply(host, reply) }
  }
  const askForRead = (context: RequestContext, path: string) => {
    const { host }: { host?: string } = Object(context.query)
    const request = { method: 'GET', path, signal: context.signal, timeout: fanOutTimeout }
    return askEveryHost(context.caller!, request, host)
  }

  return {
    forward: async (route, context) => (await send(route, context)).body,
    listMachines: async context =>
      mergeMachines(await askForRead(context, toServedPath('/v1/machines')), table.machinesOf),
    async showMachine(route, context) {
      const { host, body } = await send(route, context)
      return Array.isArray(body) ? body.map((record: object) => toRecordOfHost(record, host)) : body
    },
    async readLicenses(route, context) {
      const { path, choice } = toForwardedRequest(route, context)
      return choice.host === undefined ? listByHost(await askForRead(context, path)) : (await send(route, context)).body
    },
    listCaches: async context => mergeCaches(await askForRead(context, toServedPath('/v1/catalog/cache'))),
    async removeFromCaches(route, context) {
      const { choice, ...request } = toForwardedRequest(route, context)
      return mergeDeletions(await askEveryHost(context.caller!, { ...request, timeout: readTimeout }, choice.host))
    },
  }
}
