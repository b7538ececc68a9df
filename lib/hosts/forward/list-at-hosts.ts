import type { Principal } from '#lib/access/principal.ts'
import { toServedPath } from '#lib/calls/paths.ts'
import type { StoredHost } from '../stored-host.ts'
import type { AskEveryHost } from './every-host.ts'
import { fanOutTimeout } from './find-machine.ts'

/** A list of a host, and the claim that its endpoint needs. */
interface HostList {
  readonly path: Parameters<typeof toServedPath>[0]
  readonly claim: string
}

/** The lists of the hosts that have answered, and a sentence about those that have not, for an error; empty when all have. */
export interface ListsOfHosts {
  readonly lists: readonly { readonly host: StoredHost; readonly items: readonly unknown[] }[]
  readonly hint: string
}

/** Asks all hosts for a list, to find out which of them has something that a request names. */
export const listAtHosts = async (
  askEveryHost: AskEveryHost,
  { path, claim }: HostList,
  user: Principal,
  signal: AbortSignal | undefined,
): Promise<ListsOfHosts> => {
  // This service asks for itself, whatever the user may see. The host checks the rights of the user when it gets the request.
  const asker = { ...user, roles: [], superUser: false, claims: new Set([claim]) }
  const answers = await askEveryHost(asker, { method: 'GET', path: toServedPath(path), timeout: fanOutTimeout, signal })
  const silent = answers.filter(answer => 'error' in answer).map(({ host }) => host.name)
  return {
    lists: answers.flatMap(answer =>
      'body' in answer ? [{ host: answer.host, items: Array.isArray(answer.body) ? answer.body : [] }] : [],
    ),
    hint: silent.length > 0 ? ` It may be on ${silent.join(', ')}, which cannot be asked now.` : '',
  }
}
