import type { Principal } from '#lib/access/principal.ts'
import { ServiceError } from '#lib/errors.ts'
import type { StoredHost } from '../stored-host.ts'
import type { AskEveryHost } from './every-host.ts'
import { listAtHosts } from './list-at-hosts.ts'

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
const countReady = (name: string, pools: readonly unknown[]): number | undefined => {
  const pool = pools
    .map((item): Record<string, unknown> => Object(item))
    .find(each => typeof each['name'] === 'string' && each['name'].toLowerCase() === name.toLowerCase())
  if (!pool) return undefined
  const members: readonly unknown[] = Array.isArray(pool['members']) ? pool['members'] : []
  return members.filter(member => Object(member).state === 'ready').length
}

export const createFindPoolHost =
  (askEveryHost: AskEveryHost): FindPoolHost =>
  async (name, user, { isClaim, signal }) => {
    const { lists, hint } = await listAtHosts(askEveryHost, { path: '/v1/pools', claim: 'LIST_VM' }, user, signal)
    const found = lists.flatMap(({ host, items }) => {
      const ready = countReady(name, items)
      return ready === undefined ? [] : [{ host, ready }]
    })
    const [best] = found.toSorted((a, b) => b.ready - a.ready)
    if (best && (isClaim || found.length === 1)) return best.host
    if (best)
      throw new ServiceError(
        'conflict',
        `The hosts ${found.map(({ host }) => host.name).join(' and ')} have a pool ${name} each. Name one of them with ?host=NAME.`,
      )
    throw new ServiceError('not-found', `There is no pool with the name ${name}.${hint}`)
  }
