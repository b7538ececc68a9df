import { connect } from 'node:net'
import type { ConnectionOptions } from 'node:tls'
import { createClient } from '#lib/client/client.ts'
import type { Client } from '#lib/client/types.ts'
import type { Config } from '#lib/compose/config.ts'
import { ServiceError, unknownEndpoint } from '#lib/errors.ts'
import type { StartWorker } from '#lib/platform/workers.ts'
import { toRefusal } from '../admin/refusal.ts'
import { createUnreachableError, type ServiceTarget } from '../admin/service-target.ts'
import { trustCertificate } from './certificate.ts'
import type { Context } from './contexts.ts'
import { createNodeFetch, type SendFetch } from './node-fetch.ts'
import { selectTarget, type TargetOptions } from './select-target.ts'

/** A service that a command calls. */
export interface Service {
  readonly client: Client
  /** Where it listens, for WebSockets. */
  readonly target: ServiceTarget
  /** The configuration of a service of this host. */
  readonly config?: Config
  /** False: this process serves the endpoints on the state folder. Then there are neither machines nor jobs. */
  readonly isRunning: boolean
}

/** What a command needs of a service. */
export interface ServiceNeeds {
  readonly startWorker: StartWorker
  /** What this process serves if no service runs; without it a service must run. */
  readonly offline?: 'identity' | 'catalog' | undefined
}

/** The `error` of a refusal; undefined if it has none, or if a proxy has answered. */
const readError = async (reply: Response): Promise<unknown> => {
  const { body } = toRefusal(reply.status, await reply.clone().text())
  return typeof body === 'object' && body !== null && 'error' in body ? body.error : undefined
}

/** Throws `unsupported` if a reply says that the service has no such endpoint. A build or a configuration can have some only. */
const assertServed = async (reply: Response, { name }: ServiceTarget, method: string, url: string): Promise<void> => {
  const isMissing = reply.status === 404 && (await readError(reply)) === unknownEndpoint
  if (!isMissing && reply.status !== 405) return
  const { pathname } = new URL(url)
  throw new ServiceError('unsupported', `${name} does not have ${method} ${pathname}, which this command needs.`)
}

/** Creates a client whose connection errors name the service. `retries` is 0: a person sees the failure, and decides. */
const createServiceClient = (target: ServiceTarget, fetch: SendFetch, { token, api_key }: Partial<Context>): Client =>
  createClient({
    url: target.url,
    ...(token !== undefined && { token }),
    ...(api_key !== undefined && { apiKey: api_key }),
    retries: 0,
    async fetch(url, init) {
      const reply = await fetch(url, init).catch((error: unknown) => {
        if (init.signal?.aborted) throw error
        throw createUnreachableError(target, error)
      })
      await assertServed(reply, target, init.method ?? 'GET', url)
      return reply
    },
  })

/** The service of a context. */
export const openContext = (context: Context): Service => {
  const { url, token, api_key, certificate } = context
  const tls: ConnectionOptions = certificate === undefined ? {} : trustCertificate(certificate)
  const target: ServiceTarget = {
    name: url,
    url,
    headers: api_key === undefined ? { authorization: `Bearer ${token}` } : { 'x-api-key': api_key },
    tls,
    hint: `If it has a new certificate, sign in again with \`vmhost login ${url}\`.`,
  }
  return { client: createServiceClient(target, createNodeFetch(tls), context), target, isRunning: true }
}

/** Whether something listens on a UNIX socket. */
const isListening = (path: string): Promise<boolean> => {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const socket = connect(path, () => resolve(true))
  socket.once('error', () => resolve(false))
  return promise.finally(() => socket.destroy())
}

const openLocal = async (
  options: TargetOptions,
  { startWorker, offline }: ServiceNeeds,
  work: (service: Service) => Promise<void>,
): Promise<void> => {
  const { loadConfig } = await import('../admin/setting-options.ts')
  const { getLocalTarget } = await import('../admin/service-target.ts')
  const config = loadConfig(options)
  const target = getLocalTarget(config)
  const { socketPath = '' } = target
  const serve = (fetch: SendFetch, isRunning: boolean): Promise<void> =>
    work({ client: createServiceClient(target, fetch, {}), target, config, isRunning })
  if (await isListening(socketPath)) return serve(createNodeFetch({ socketPath }), true)
  if (!offline)
    throw new ServiceError(
      'unavailable',
      `This needs a running service, and none runs on ${config.state}. Start it with \`vmhost serve\`, or sign in to another one with \`vmhost login\`.`,
    )
  const { withOfflineService } = await import('./offline.ts')
  return withOfflineService(config, startWorker, offline, fetch => serve(fetch, false))
}

/**
 * Runs work with the service that the options name: that of a context, or that of this host. Throws `unavailable` if it cannot be
 * reached.
 */
export const withService = async (
  options: TargetOptions,
  needs: ServiceNeeds,
  work: (service: Service) => Promise<void>,
): Promise<void> => {
  const context = selectTarget(options)
  return context ? work(openContext(context)) : openLocal(options, needs, work)
}
