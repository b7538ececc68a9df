import type { Principal } from '#lib/access/principal.ts'
import { createKeyCounts } from '#lib/async/key-counts.ts'
import { ServiceError } from '#lib/errors.ts'
import type { Agent } from '#lib/hypervisor/agent/agent.ts'
import type { GuestSystem } from '#lib/hypervisor/agent/guest-program.ts'
import { assertMayEnter } from '../access.ts'
import type { MachineContext } from '../context.ts'

/** The guest of a running machine, as far as its agent gives access to it. Dispose of it when the work in it has ended. */
export interface Guest extends Disposable {
  /** The name of the machine, for messages. */
  readonly name: string
  readonly agent: Agent
  readonly system: GuestSystem
}

/** The most commands and files of one user that are under way in guests at the same time, and in all: each may need some MB. */
const maxOpenGuests = { user: 16, all: 64 } as const

/** Opens the agent of a machine for a piece of work. */
export type EnterGuest = (reference: string, caller: Principal) => Promise<Guest>

/**
 * Creates the function that gives access to guests. It throws `not-found`, `forbidden`, `conflict` for a machine that does not run
 * or has no agent, `unsupported` for a driver without agents, and `unavailable` while too many others
 * are at work.
 */
export const createEnterGuest = ({ driver, inventory }: Pick<MachineContext, 'driver' | 'inventory'>): EnterGuest => {
  const openGuests = createKeyCounts()
  let openCount = 0
  /** Counts a command or a file of a user until it is disposed of. Throws `unavailable` at the limits. */
  const countOpenGuest = (userId: string): Disposable => {
    const ownCount = openGuests.get(userId)
    if (ownCount >= maxOpenGuests.user)
      throw new ServiceError(
        'unavailable',
        `You have ${ownCount} commands and files under way in guests, which is the maximum for one user. Wait until one has ended.`,
      )
    if (openCount >= maxOpenGuests.all)
      throw new ServiceError(
        'unavailable',
        `${openCount} commands and files are under way in guests, which is the maximum. Try again later.`,
      )
    const own = openGuests.add(userId)
    openCount += 1
    let isOpen = true
    return {
      [Symbol.dispose]() {
        own[Symbol.dispose]()
        if (isOpen) openCount -= 1
        isOpen = false
      },
    }
  }
  return async (reference, caller) => {
    const view = inventory.find(reference)
    assertMayEnter(caller, view)
    const { id, name, state, guest } = view
    if (!driver.openAgent)
      throw new ServiceError('unsupported', `Guest agents are unsupported by the ${driver.kind} driver.`)
    if (state !== 'running')
      throw new ServiceError('conflict', `${name} is ${state}. Start it first: its guest agent answers while it runs.`)
    // Counted before the first wait, so that no number of requests at once passes the limits.
    const open = countOpenGuest(caller.id)
    try {
      const agent = await driver.openAgent(id)
      const system = guest?.systemId === 'mswindows' ? 'windows' : 'posix'
      return { name, agent, system, [Symbol.dispose]: () => open[Symbol.dispose]() }
    } catch (error) {
      open[Symbol.dispose]()
      throw error
    }
  }
}
