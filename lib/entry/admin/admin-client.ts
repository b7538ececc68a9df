import { existsSync } from 'node:fs'
import { type IncomingMessage, request as httpRequest } from 'node:http'
import { text } from 'node:stream/consumers'
import { createHttpAudit } from '#lib/audit/http-audit.ts'
import { createCatalog } from '#lib/catalog/catalog.ts'
import type { Config } from '#lib/compose/config.ts'
import { ServiceError } from '#lib/errors.ts'
import { createApp } from '#lib/http/app.ts'
import { createMethodTable } from '#lib/http/method-table.ts'
import { routes } from '#functions/routes.gen.ts'
import { parseFilter } from '#lib/calls/list-filter.ts'
import { withFullDiskError } from '#lib/storage/full-disk.ts'
import { getStoreFile } from '#lib/storage/open-store.ts'
import { isSystemError } from '#lib/platform/files.ts'
import { openLog } from '#lib/platform/log.ts'
import type { StartWorker } from '#lib/platform/workers.ts'
import { openCatalog } from '#lib/compose/open-catalog.ts'
import { selectServedRoutes } from '#lib/compose/served-routes.ts'
import { composeStateServices } from '#lib/compose/state-services.ts'
import { getSocketPath, openState, type State } from '#lib/compose/state.ts'
import { toRefusal } from './refusal.ts'

type Headers = Readonly<Record<string, string>>

/** Sends a request to a path below `/api/v1`, as root, and returns the body of the reply. Throws the refusal of the service. */
export type ApiClient = <T>(method: string, path: string, body?: object, headers?: Headers) => Promise<T>

type SendRequest = (method: string, path: string, body?: string, headers?: Headers) => Promise<Reply>

interface Reply {
  readonly status: number
  readonly text: string
}

// A build can have some endpoints only, and still has all commands.
const { methodsOf } = createMethodTable(routes)

const createApiClient =
  (send: SendRequest): ApiClient =>
  async <T>(method: string, path: string, body?: object, headers?: Headers): Promise<T> => {
    // Without this check `users revoke .. --role X` would delete the role X.
    if (/\/\.{1,2}(\/|$)/.test(path)) throw new ServiceError('not-found', 'The names . and .. are not possible.')
    const servedPath = `/api/v1${path}`
    if (!methodsOf(servedPath.replace(/\?.*/, '')).includes(method))
      throw new ServiceError(
        'unsupported',
        `This command needs ${method} ${servedPath}, which this build does not have.`,
      )
    const reply = await send(method, servedPath, body && JSON.stringify(body), headers)
    if (reply.status >= 400) throw toRefusal(reply.status, reply.text)
    // The service has checked its reply against the schema of the endpoint.
    return JSON.parse(reply.text) as T
  }

/** A command that calls the endpoints of a service. */
export interface AdminCommand {
  /** The part of the service that the command calls in addition to users and the audit. */
  readonly needs: 'catalog' | undefined
  /** Does the work of the command. `isRunning` is true if a service runs. Only then there are machines and jobs. */
  readonly work: (callApi: ApiClient, isRunning: boolean) => Promise<void>
}

/** Milliseconds within which a running service must reply. */
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

/** Returns true if a service answers on its socket. */
const isAnswering = (send: SendRequest): Promise<boolean> =>
  send('GET', '/api/health/probe').then(
    () => true,
    (error: unknown) => {
      if (isSystemError(error, 'ENOENT') || isSystemError(error, 'ECONNREFUSED')) return false
      throw error
    },
  )

/** Creates a sender to an app in this process, with the endpoints of users, of the audit, and of the catalog if needed. */
const createLocalSender = async (
  config: Config,
  state: State,
  startWorker: StartWorker,
  needs: AdminCommand['needs'],
): Promise<SendRequest> => {
  const services = {
    ...composeStateServices(state),
    ...(needs === 'catalog' && { catalog: createCatalog(await openCatalog(config, { ...state, startWorker })) }),
  }
  // A command may call endpoints that the configuration hides from clients of the service.
  const allRoutes = selectServedRoutes({ ...config, routes_include: [], routes_exclude: [] })
  const app = createApp({
    routes: allRoutes.filter(({ endpoint }) => endpoint.uses.every(name => name in services)),
    services,
    // Whoever may open the state folder acts as root.
    authenticate: () => state.identity.root(),
    parseFilter,
    onOutcome: () => {},
    audit: createHttpAudit(state.audit),
    checkReplies: false,
  })
  return async (method, path, body, headers) => {
    const request = new Request(`http://localhost${path}`, {
      method,
      ...(body !== undefined && { body }),
      ...(headers && { headers }),
    })
    const response = await app.fetch(request, { address: 'local' })
    return { status: response.status, text: await response.text() }
  }
}

/**
 * Runs a command with a client of the service of this state folder. If the service runs, the client uses its socket. Else this
 * process opens the folder and serves the same endpoints except those of machines and jobs, with the same checks, events and audit.
 * Throws `not-found` if the folder has no store.
 */
export const runCommand = async (
  config: Config,
  startWorker: StartWorker,
  { needs, work }: AdminCommand,
): Promise<void> => {
  const send = createSocketSender(getSocketPath(config))
  if (await isAnswering(send)) return work(createApiClient(send), true)

  if (!existsSync(getStoreFile(config.state)))
    throw new ServiceError(
      'not-found',
      `There is no vmhost state in ${config.state}. Start the service once, or name another folder with --state.`,
    )
  await openLog('warning')
  await using state = await withFullDiskError(config.state, () => openState(config, startWorker))
  await work(createApiClient(await createLocalSender(config, state, startWorker, needs)), false)
}
