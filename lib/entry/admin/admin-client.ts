import { existsSync } from 'node:fs'
import { type IncomingMessage, request as httpRequest } from 'node:http'
import { text } from 'node:stream/consumers'
import { createHttpAudit } from '#lib/audit/http-audit.ts'
import { createCatalog } from '#lib/catalog/catalog.ts'
import type { Config } from '#lib/compose/config.ts'
import { ServiceError } from '#lib/errors.ts'
import { createApp } from '#lib/http/app.ts'
import { faultOf } from '#lib/calls/statuses.ts'
import { parseFilter } from '#lib/calls/list-filter.ts'
import { withFullDiskError } from '#lib/storage/full-disk.ts'
import { storeFile } from '#lib/storage/open-store.ts'
import { isSystemError } from '#lib/platform/files.ts'
import { openLog } from '#lib/platform/log.ts'
import { workersFrom } from '#lib/platform/workers.ts'
import { openCatalog } from '#lib/compose/open-catalog.ts'
import { selectServedRoutes } from '#lib/compose/served-routes.ts'
import { composeStateServices } from '#lib/compose/state-services.ts'
import { openState, getSocketPath } from '#lib/compose/state.ts'

type Headers = Readonly<Record<string, string>>

/** Sends a request below `/api/v1` as root and returns the body of the reply. Throws the refusal of the service. */
export type ApiClient = <T>(method: string, path: string, body?: object, headers?: Headers) => Promise<T>

type SendRequest = (method: string, path: string, body?: string, headers?: Headers) => Promise<Reply>

interface Reply {
  readonly status: number
  readonly text: string
}

/** Returns the message of a refusal, or its whole body if that is not JSON. */
const readRefusal = (body: string): string => {
  try {
    return (JSON.parse(body) as { message: string }).message
  } catch {
    return body
  }
}

const createApiClient =
  (send: SendRequest): ApiClient =>
  async <T>(method: string, path: string, body?: object, headers?: Headers): Promise<T> => {
    // Without this check `users revoke .. --role X` would delete the role X.
    if (/\/\.{1,2}(\/|$)/.test(path)) throw new ServiceError('not-found', 'The names . and .. are not possible.')
    const reply = await send(method, `/api/v1${path}`, body && JSON.stringify(body), headers)
    if (reply.status >= 400) throw new ServiceError(faultOf(reply.status), readRefusal(reply.text))
    return JSON.parse(reply.text) as T
  }

/** A command that calls the endpoints of a service. */
export interface AdminCommand {
  /** The service that the command needs in addition to users and the audit. */
  readonly needs: 'catalog' | undefined
  /** `isRunning` is true if a service runs. Only then there are machines and jobs. */
  readonly work: (callApi: ApiClient, isRunning: boolean) => Promise<void>
}

/** Milliseconds that a running service has to reply. */
const replyTimeout = 60_000

const createSocketSender =
  (socketPath: string): SendRequest =>
  async (method, path, body, headers) => {
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
    const request = httpRequest(
      { socketPath, method, path, headers: { ...headers, host: 'localhost' }, timeout: replyTimeout },
      resolve,
    )
    request.once('error', reject)
    request.once('timeout', () => request.destroy(new Error(`the service does not answer on ${socketPath}`)))
    request.end(body)
    const response = await promise
    return { status: response.statusCode ?? 0, text: await text(response) }
  }

const isNotRunning = (error: unknown): boolean => isSystemError(error, 'ENOENT') || isSystemError(error, 'ECONNREFUSED')

/**
 * Runs `work` with a client of the service of this state folder. If the service runs, the client uses its socket. Else it opens the
 * folder in this process and serves the same endpoints except those of machines and jobs, with the same checks, events and audit.
 * Throws `not-found` if the folder has no store.
 */
export const withService = async (config: Config, entry: URL, { needs, work }: AdminCommand): Promise<void> => {
  const send = createSocketSender(getSocketPath(config))
  const running = await send('GET', '/api/health/probe').then(
    () => true,
    (error: unknown) => {
      if (isNotRunning(error)) return false
      throw error
    },
  )
  if (running) return work(createApiClient(send), true)

  if (!existsSync(storeFile(config.state)))
    throw new ServiceError(
      'not-found',
      `There is no vmhost state in ${config.state}. Start the service once, or name another folder with --state.`,
    )
  await openLog('warning')
  const startWorker = workersFrom(entry)
  await using state = await withFullDiskError(config.state, () => openState(config, startWorker))
  const { root } = state.identity
  const services = {
    ...composeStateServices(state),
    ...(needs === 'catalog' && { catalog: createCatalog(await openCatalog(config, { ...state, startWorker })) }),
  }
  const app = createApp({
    routes: selectServedRoutes({ ...config, routes_include: [], routes_exclude: [] }).filter(({ endpoint }) =>
      endpoint.uses.every(name => name in services),
    ),
    services,
    authenticate: root,
    parseFilter,
    onOutcome: () => {},
    audit: createHttpAudit(state.audit),
    checkReplies: false,
  })
  await work(
    createApiClient(async (method, path, body, headers) => {
      const request = new Request(`http://localhost${path}`, {
        method,
        ...(body !== undefined && { body }),
        ...(headers && { headers }),
      })
      const response = await app.fetch(request, { address: 'local' })
      return { status: response.status, text: await response.text() }
    }),
    false,
  )
}
