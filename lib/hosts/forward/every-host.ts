import type { Principal } from '#lib/access/principal.ts'
import { ServiceError } from '#lib/errors.ts'
import type { HostTable } from '../host-table.ts'
import { describeSilence, type StoredHost } from '../stored-host.ts'
import type { AskHost, HostRequest } from './host-client.ts'
import { unwrapReply } from './host-refusal.ts'

/** What one host has answered, or why it has not. */
export type HostAnswer =
  | { readonly host: StoredHost; readonly body: unknown }
  | { readonly host: StoredHost; readonly error: ServiceError }

/**
 * Asks all hosts at the same time, or only one. A host that has not answered is not asked again before its next heartbeat, so
 * that nobody waits for it. The answers are in the order of the hosts' names.
 */
export type AskEveryHost = (user: Principal, request: HostRequest, only?: string) => Promise<readonly HostAnswer[]>

interface Options {
  readonly table: Pick<HostTable, 'list' | 'find' | 'isAnswering'>
  readonly ask: AskHost
}

const createSilentError = (host: StoredHost): ServiceError =>
  new ServiceError(
    'unavailable',
    host.heard_at === undefined ? `host ${host.name} has sent no heartbeat yet` : describeSilence(host),
  )

export const createAskEveryHost = ({ table, ask }: Options): AskEveryHost => {
  const askOne = async (host: StoredHost, user: Principal, request: HostRequest): Promise<HostAnswer> => {
    if (!table.isAnswering(host)) return { host, error: createSilentError(host) }
    try {
      return { host, body: unwrapReply(host, await ask(host, user, request)) }
    } catch (error) {
      request.signal?.throwIfAborted()
      // Any other error is a defect of this service, which no host should be blamed for.
      if (!(error instanceof ServiceError)) throw error
      return { host, error }
    }
  }
  return (user, request, only) =>
    Promise.all((only === undefined ? table.list() : [table.find(only)]).map(host => askOne(host, user, request)))
}
