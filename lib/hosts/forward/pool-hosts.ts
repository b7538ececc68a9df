import type { Principal } from '#lib/access/principal.ts'
import { toServedPath } from '#lib/calls/paths.ts'
import { ServiceError } from '#lib/errors.ts'
import type { StoredHost } from '../stored-host.ts'
import type { AskEveryHost } from './every-host.ts'
import { fanOutTimeout } from './find-machine.ts'

/** What the body of a request for a new pool says about the host that it needs. */
export const readPoolNeeds = (body: unknown): { readonly machine: string | undefined; readonly images: unknown } => {
  const { from, template }: { from?: unknown; template?: unknown } = Object(body)
  const { image, machine }: { image?: unknown; machine?: unknown } = Object(from)
  return {
    machine: typeof machine === 'string' ? machine : undefined,
    images: { ...Object(template), image },
  }
}

/**
 * Finds the host of a pool by its name. A claim goes to the host that has most machines ready, if several have a pool of that name.
 * Throws `not-found`, and for other requests `conflict` when several hosts have it.
 */
export type FindPoolHost = (
  name: string,
  user: Principal,
  options: { readonly isClaim: boolean; readonly signal: AbortSignal | undefined },
) => Promise<StoredHost>

/** The number of ready machines of the pool with this name in a list of pools; undefined if it is not there. */
const countReady = (name: string, pools: unknown): number | undefined => {
  const items: readonly unknown[] = Array.isArray(pools) ? pools : []
  const pool = items
    .map((item): Record<string, unknown> => Object(item))
    .find(each => typeof each['name'] === 'string' && each['name'].toLowerCase() === name.toLowerCase())
  if (!pool) return undefined
  const members: readonly unknown[] = Array.isArray(pool['members']) ? pool['members'] : []
  return members.filter(member => Object(member).state === 'ready').length
}

export const createFindPoolHost =
  (askEveryHost: AskEveryHost): FindPoolHost =>
  async (name, user, { isClaim, signal }) => {
    // This service asks for itself, whatever the user may see. The host checks the rights of the user when it gets the request.
    const asker = { ...user, roles: [], superUser: false, claims: new Set(['LIST_VM']) }
    const answers = await askEveryHost(asker, {
      method: 'GET',
      path: toServedPath('/v1/pools'),
      timeout: fanOutTimeout,
      ...(signal && { signal }),
    })
    const found = answers.flatMap(answer => {
      const ready = 'body' in answer ? countReady(name, answer.body) : undefined
      return ready === undefined ? [] : [{ host: answer.host, ready }]
    })
    const [best] = found.toSorted((a, b) => b.ready - a.ready)
    if (best && (isClaim || found.length === 1)) return best.host
    if (best)
      throw new ServiceError(
        'conflict',
        `The hosts ${found.map(({ host }) => host.name).join(' and ')} have a pool ${name} each. Name one of them with ?host=NAME.`,
      )
    const silent = answers.filter(answer => 'error' in answer).map(({ host }) => host.name)
    const hint = silent.length > 0 ? ` It may be on ${silent.join(', ')}, which cannot be asked now.` : ''
    throw new ServiceError('not-found', `There is no pool with the name ${name}.${hint}`)
  }
