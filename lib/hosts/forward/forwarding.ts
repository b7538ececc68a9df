import type { DeletionReply } from '#lib/calls/deletion-reply.ts'
import type { PreparedBody } from '#lib/calls/prepared-body.ts'
import { toServedPath } from '#lib/calls/paths.ts'
import { SelectionQuery } from '#lib/calls/selection/selection-query.ts'
import type { RequestContext } from '#lib/http/context.ts'
import type { Route } from '#lib/http/endpoint.ts'
import * as z from 'zod'
import type { HostTable } from '../host-table.ts'
import { toRecordOfHost } from '../machine-records.ts'
import type { StoredHost } from '../stored-host.ts'
import { checkAnswer, type CheckReply } from './checked-reply.ts'
import { createAskEveryHost } from './every-host.ts'
import { fanOutTimeout, type FindMachineHost } from './find-machine.ts'
import { type ForwardedRequest, toForwardedRequest } from './forwarded-request.ts'
import type { AskHost } from './host-client.ts'
import type { HostJobs } from './host-jobs.ts'
import { unwrapReply } from './host-refusal.ts'
import { type ForwardStream, isStreamed } from './streams/forward-stream.ts'
import { createImageHosts } from './image-hosts.ts'
import { createFindPoolHost } from './pool-hosts.ts'
import { createChooseHost } from './choose-host.ts'
import { listByHost, mergeCaches, mergeDeletions, mergeNamed, mergeMachines } from './merged-replies.ts'

/**
 * Sends requests that need a host to the hosts. The caller is authorized and the request is parsed before, as for every request;
 * the host gets the rights that the caller has here. Each method throws what the host refuses, and `unavailable` for a host that
 * does not answer, and `upstream` for a reply that is not one of the route.
 */
export interface Forwarding {
  /** Sends the request to the host that it names, to that of its machine, or to one that can take a new machine. */
  forward(route: Route, context: RequestContext): Promise<unknown>
  listMachines(route: Route, context: RequestContext): Promise<PreparedBody>
  /** The record of a machine, as an array of one. */
  showMachine(route: Route, context: RequestContext): Promise<unknown>
  /** The images of the hosts that answer, with the names of their hosts. */
  listImages(route: Route, context: RequestContext): Promise<readonly object[]>
  showImage(route: Route, context: RequestContext): Promise<object>
  /** The pools of the hosts that answer, with the names of their hosts. */
  listPools(route: Route, context: RequestContext): Promise<readonly object[]>
  /** The license of the host that the query names, or one entry of each host. */
  readLicenses(route: Route, context: RequestContext): Promise<unknown>
  listCaches(route: Route, context: RequestContext): Promise<readonly object[]>
  /** Deletes from the caches of all hosts, or of the host that the query names. */
  removeFromCaches(route: Route, context: RequestContext): Promise<z.infer<typeof DeletionReply>>
}

interface Options {
  readonly table: HostTable
  readonly ask: AskHost
  readonly findMachineHost: FindMachineHost
  readonly jobs: HostJobs
  readonly check: CheckReply
  readonly forwardStream: ForwardStream
}

/** Milliseconds that a host has for a read. */
const readTimeout = 30_000
/** Milliseconds that a host has for a call whose caller waits. */
const changeTimeout = 900_000

/** The names of the members of the items of a list. */
const listMembers = (reply: z.ZodType): ReadonlySet<string> =>
  new Set(reply instanceof z.ZodArray && reply.element instanceof z.ZodObject ? Object.keys(reply.element.shape) : [])

export const createForwarding = ({ table, ask, findMachineHost, jobs, check, forwardStream }: Options): Forwarding => {
  const askEveryHost = createAskEveryHost({ table, ask })

  const chooseHost = createChooseHost({
    table,
    findMachineHost,
    imageHosts: createImageHosts({ table, askEveryHost }),
    findPoolHost: createFindPoolHost(askEveryHost),
  })

  const runJob = (
    host: StoredHost,
    { endpoint }: Route,
    context: RequestContext,
    { method, path, query, body, headers }: ForwardedRequest,
  ): Promise<unknown> => {
    const run = endpoint.job?.repeatable ? jobs.run : jobs.runOnce
    return run(
      host,
      context.requireCaller(),
      { method, path, query: query.toString(), body, headers },
      context.progress,
    )
  }
  const send = async (route: Route, context: RequestContext) => {
    const request = toForwardedRequest(route, context)
    const host = jobs.findHost(context.progress.id) ?? (await chooseHost(route, context, request))
    if (context.progress.id !== undefined && route.endpoint.job)
      return { host, body: await runJob(host, route, context, request) }
    const isRead = route.endpoint.effect === 'read'
    const reply = await ask(host, context.requireCaller(), {
      ...request,
      // A change that has begun goes on when its caller disconnects, but who has gone does not wait in line.
      signal: isRead || route.endpoint.waits ? context.signal : undefined,
      timeout: isRead && !route.endpoint.waits ? readTimeout : changeTimeout,
    })
    return { host, body: unwrapReply(host, reply) }
  }
  const sendChecked = async (route: Route, context: RequestContext) => {
    const { host, body } = await send(route, context)
    return { host, body: check(route, host, body) }
  }
  const askForRead = async (route: Route, context: RequestContext, path: string) => {
    const { host }: { host?: string } = Object(context.query)
    const request = { method: 'GET', path, signal: context.signal, timeout: fanOutTimeout }
    const answers = await askEveryHost(context.requireCaller(), request, host)
    return answers.map(answer => checkAnswer(check, route, answer))
  }

  return {
    async forward(route, context) {
      if (!isStreamed(route)) return (await sendChecked(route, context)).body
      const request = toForwardedRequest(route, context)
      return forwardStream(route, context, await chooseHost(route, context, request), request)
    },
    async listMachines(route, context) {
      const { host }: { host?: string } = Object(context.query)
      // The Link to the next page names the host too.
      const query = { ...SelectionQuery.parse(context.query), ...(host !== undefined && { host }) }
      const { path, reply } = route.endpoint
      const answers = await askForRead(route, context, toServedPath(path))
      return mergeMachines(answers, table.machinesOf, { query, path, members: listMembers(reply) })
    },
    async showMachine(route, context) {
      const { host, body } = await sendChecked(route, context)
      return Array.isArray(body) ? body.map((record: object) => toRecordOfHost(record, host)) : body
    },
    listImages: async (route, context) => mergeNamed(await askForRead(route, context, toServedPath('/v1/images'))),
    async showImage(route, context) {
      const { host, body } = await sendChecked(route, context)
      return { ...Object(body), host: host.name }
    },
    listPools: async (route, context) => mergeNamed(await askForRead(route, context, toServedPath('/v1/pools'))),
    async readLicenses(route, context) {
      const { path, choice } = toForwardedRequest(route, context)
      if (choice.host !== undefined) return (await sendChecked(route, context)).body
      return listByHost(await askForRead(route, context, path))
    },
    listCaches: async (route, context) =>
      mergeCaches(await askForRead(route, context, toServedPath('/v1/catalog/cache'))),
    async removeFromCaches(route, context) {
      const { choice, ...request } = toForwardedRequest(route, context)
      const answers = await askEveryHost(context.requireCaller(), { ...request, timeout: readTimeout }, choice.host)
      return mergeDeletions(answers.map(answer => checkAnswer(check, route, answer)))
    },
  }
}
