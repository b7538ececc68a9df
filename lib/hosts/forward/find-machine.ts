import type { Principal } from '#lib/access/principal.ts'
import { ServiceError } from '#lib/errors.ts'
import { encodeSegment, toServedPath } from '#lib/calls/paths.ts'
import type { HostTable } from '../host-table.ts'
import type { StoredHost } from '../stored-host.ts'
import type { AskHost } from './host-client.ts'

/** Milliseconds that each host has to answer when all are asked. */
export const fanOutTimeout = 2_000

interface Options {
  readonly table: Pick<HostTable, 'list' | 'findMachines' | 'isAnswering'>
  readonly ask: AskHost
}

/**
 * Finds the host of a machine, by the id or the name of the machine: in the records that hosts have sent, or else by asking the
 * hosts, because a machine may be newer than the last heartbeat. Throws `not-found`, and `conflict` when several hosts have it.
 */
export type FindMachineHost = (
  reference: string,
  user: Principal,
  signal: AbortSignal | undefined,
) => Promise<StoredHost>

export const createFindMachineHost = ({ table, ask }: Options): FindMachineHost => {
  const askAll = async (
    reference: string,
    user: Principal,
    signal: AbortSignal | undefined,
  ): Promise<readonly StoredHost[]> => {
    const path = toServedPath(`/v1/machines/${encodeSegment(reference)}/status`)
    // This service asks for itself, whatever the user may see. The host checks the rights of the user when it gets the request.
    const asker = { ...user, roles: [], superUser: false, claims: new Set(['LIST_VM']) }
    const found = await Promise.all(
      table
        .list()
        .filter(table.isAnswering)
        .map(async host => {
          const reply = await ask(host, asker, { method: 'GET', path, signal, timeout: fanOutTimeout }).catch(() => {
            signal?.throwIfAborted()
            return undefined
          })
          return reply?.status === 200 ? [host] : []
        }),
    )
    return found.flat()
  }

  return async (reference, user, signal) => {
    const known = new Set(table.findMachines(reference).map(({ host }) => host))
    const hosts = known.size > 0 ? [...known] : await askAll(reference, user, signal)
    if (hosts.length > 1)
      throw new ServiceError(
        'conflict',
        `The hosts ${hosts.map(({ name }) => name).join(' and ')} have a machine ${reference} each. Give its id, or name its host with ?host=NAME.`,
      )
    if (hosts[0]) return hosts[0]
    const silent = table.list().filter(host => !table.isAnswering(host))
    const hint =
      silent.length > 0
        ? ` It may be new on ${silent.map(({ name }) => name).join(', ')}, which cannot be asked now.`
        : ''
    throw new ServiceError('not-found', `There is no machine with the id or name ${reference}.${hint}`)
  }
}
