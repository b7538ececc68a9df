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
import { openState, getSocketPath } from '#lib/compose/state.ts'

type Headers = Readonly<Record<string, string>>

/** Sends one request below `/api/v1` as root, and gives the reply's body. Throws the service's refusal. */
export type Ask = <T>(method: string, path: string, body?: object, headers?: Headers) => Promise<T>

type Send = (method: string, path: string, body?: string, headers?: Headers) => Promise<Answer>

interface Answer {
  readonly status: number
  readonly text: string
}

const refusalOf = (body: string): string => {
  try {
    return (JSON.parse(body) as { message: string }).message
  } catch {
    return body
  }
}

const askOver =
  (send: Send): Ask =>
  async <T>(method: string, path: string, body?: object, headers?: Headers): Promise<T> => {
    // Without this `users revoke .. --role X` would delete the role X.
    if (/\/\.{1,2}(\/|$)/.test(path)) throw new ServiceError('not-found', 'Nothing is called . or .. here.')
    const answer = await send(method, `/api/v1${path}`, body && JSON.stringify(body), headers)
    // What was wrong has been put into words for the service's callers, and these are the words.
    if (answer.status >= 400) throw new ServiceError(faultOf(answer.status), refusalOf(answer.text))
    return JSON.parse(answer.text) as T
  }

/** What is to be done with a service. */
export interface Errand {
  /** What it needs beside users and the audit. */
  readonly needs: 'catalog' | undefined
  /** `running`: a service runs, so that machines and jobs can be asked for too. */
  readonly work: (ask: Ask, running: boolean) => Promise<void>
}

/** Milliseconds that a running service may take to answer. */
const patience = 60_000

const overSocket =
  (socketPath: string): Send =>
  async (method, path, body, headers) => {
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
    const request = httpRequest(
      { socketPath, method, path, headers: { ...headers, host: 'localhost' }, timeout: patience },
      resolve,
    )
    request.once('error', reject)
    request.once('timeout', () => request.destroy(new Error(`the service does not answer on ${socketPath}`)))
    request.end(body)
    const response = await promise
    return { status: response.statusCode ?? 0, text: await text(response) }
  }

const isNobodyThere = (error: unknown): boolean =>
  isSystemError(error, 'ENOENT') || isSystemError(error, 'ECONNREFUSED')

/**
 * Runs `work` with a way to reach the service of this state folder: over its socket when it runs, else by opening the
 * folder here, with the same endpoints but for those of machines and jobs. Either way it is the same request, checked and told of in the same way.
 */
export const withService = async (config: Config, entry: URL, { needs, work }: Errand): Promise<void> => {
  const send = overSocket(getSocketPath(config))
  const running = await send('GET', '/api/health/probe').then(
    () => true,
    (error: unknown) => {
      if (isNobodyThere(error)) return false
      throw error
    },
  )
  if (running) return work(askOver(send), true)

  if (!existsSync(storeFile(config.state)))
    throw new ServiceError(
      'not-found',
      `There is nothing of vmhost in ${config.state}. Start the service once, or name another folder with --state.`,
    )
  await openLog('warning')
  const startWorker = workersFrom(entry)
  await using state = await withFullDiskError(config.state, () => openState(config, startWorker))
  const { root } = state.identity
  const services = {
    ...state.identity.services,
    audit: state.audit,
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
    askOver(async (method, path, body, headers) => {
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
