import type { Principal } from '#lib/access/principal.ts'
import { ServiceError } from '#lib/errors.ts'
import type { MachineView } from '#lib/hypervisor/driver.ts'
import { assertMayEnter } from '../access.ts'
import type { MachineContext } from '../context.ts'
import { relay } from '../tunnels/relay.ts'
import type { GuestConnection } from '../tunnels/tunnels.ts'
import { createClientReader } from './client-messages.ts'
import type { ScreenQuery } from './schemas.ts'

/**
 * The screens of machines. Each call throws `not-found`, `forbidden` unless the caller may enter the machine, `conflict` for a machine
 * that does not run or has no screen, and `unsupported` for a driver without screens.
 */
export interface ScreenCalls {
  /** Connects to the screen of a machine, which speaks RFB. A viewer's keys and pointer do not reach the guest. */
  openScreen(reference: string, caller: Principal, query: ScreenQuery): Promise<GuestConnection>
  /** Draws the screen of a machine, as a PNG. */
  takeScreenshot(reference: string, caller: Principal): Promise<Uint8Array>
}

export const createScreenCalls = ({ driver, inventory }: Pick<MachineContext, 'driver' | 'inventory'>): ScreenCalls => {
  const enter = (reference: string, caller: Principal): MachineView => {
    const view = inventory.find(reference)
    assertMayEnter(caller, view)
    return view
  }
  const refuse = (what: string): never => {
    throw new ServiceError('unsupported', `${what} are unsupported by the ${driver.kind} driver.`)
  }
  return {
    async openScreen(reference, caller, { view_only }) {
      const { id } = enter(reference, caller)
      const screen = await (driver.openScreen?.(id) ?? refuse('Screens'))
      return {
        relay: socket => relay(socket, screen, createClientReader(view_only === 'false')),
        destroy: () => void screen.destroy(),
      }
    },
    async takeScreenshot(reference, caller) {
      const { id } = enter(reference, caller)
      return driver.takeScreenshot?.(id) ?? refuse('Screenshots')
    },
  }
}
