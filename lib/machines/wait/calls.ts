import type { Principal } from '#lib/access/principal.ts'
import { ServiceError } from '#lib/errors.ts'
import { assertMayEnter } from '../access.ts'
import type { MachineContext } from '../context.ts'
import { assertMayUseSnapshots } from '../snapshots/access.ts'
import { parseCondition, snapshotsEvent } from './conditions.ts'
import type { WaitContext } from './context.ts'
import type { WaitQuery, WaitReply } from './schemas.ts'
import { waitFor } from './wait-for.ts'
import { watchRights } from './watch-rights.ts'

/** The call that waits for a condition of a machine. */
export interface WaitCalls {
  /**
   * Waits for a condition (see `parseCondition`). Throws `invalid`, `not-found`, `forbidden` for serial output and ports of a machine
   * that the caller may not enter and for events of snapshots that the caller may not list, `unavailable` for too many waits, and what ends the session of the caller.
   */
  wait(
    reference: string,
    caller: Principal,
    query: WaitQuery,
    options: { readonly signal: AbortSignal; readonly reauthenticate: () => Promise<Principal> },
  ): Promise<WaitReply>
}

/** The most waits of one user, each of which holds a connection. */
const mostWaits = 100

interface Options extends Pick<MachineContext, 'driver' | 'inventory'> {
  readonly waiting: WaitContext
  /** Aborted when the service shuts down. */
  readonly closing: AbortSignal
}

export const createWaitCalls = ({ driver, inventory, waiting, closing }: Options): WaitCalls => {
  const counts = new Map<string, number>()
  const countOne = (userId: string): Disposable => {
    const count = counts.get(userId) ?? 0
    if (count >= mostWaits)
      throw new ServiceError(
        'unavailable',
        `You have ${mostWaits} waits under way, which is all that one user can have. Wait for one of them.`,
      )
    counts.set(userId, count + 1)
    return {
      [Symbol.dispose]() {
        const left = counts.get(userId)! - 1
        if (left === 0) counts.delete(userId)
        else counts.set(userId, left)
      },
    }
  }
  return {
    async wait(reference, caller, query, { signal, reauthenticate }) {
      const { id, name } = inventory.find(reference)
      const condition = await parseCondition(query.for, { parameter: 'for', driver })
      const { kind } = condition
      if (query.cursor !== undefined && kind !== 'serial' && kind !== 'event')
        throw new ServiceError('invalid', `cursor: ${query.for} has no history; leave the cursor out.`)
      const authorize = (user: Principal): void => {
        const view = waiting.findView(id)
        if (view && (kind === 'serial' || kind === 'port')) assertMayEnter(user, view)
        if (view && kind === 'event' && condition.message === snapshotsEvent) assertMayUseSnapshots(user, view, 'list')
        if (!user.superUser && !user.claims.has('LIST_VM'))
          throw new ServiceError('forbidden', `You have no right to see ${name} any more.`)
      }
      authorize(caller)
      using _counted = countOne(caller.id)
      using rights = watchRights({ reauthenticate, authorize })
      const { end, ...position } = await waitFor(waiting, condition, {
        id,
        since: query.cursor,
        milliseconds: query.timeout * 1000,
        signal: AbortSignal.any([signal, rights.signal, closing]),
      })
      const view = waiting.findView(id)
      return {
        id,
        result: end,
        ...(view && { current_state: waiting.findTransientState(id) ?? view.state }),
        ip_configured: view?.addresses[0]?.ip ?? '-',
        ...position,
      }
    },
  }
}
