import type { Principal } from '#lib/access/principal.ts'
import { ServiceError } from '#lib/errors.ts'
import { assertMayEnter } from '../access.ts'
import type { MachineContext } from '../context.ts'
import { relay } from './relay.ts'
import type { GuestConnection } from './tunnels.ts'

/**
 * Connects to a TCP port of the guest of a running machine. Throws `not-found`, `forbidden`, `conflict` for a machine that does not run, and
 * the refusals of the driver.
 */
export const connectToGuest = async (
  { driver, inventory }: Pick<MachineContext, 'driver' | 'inventory'>,
  reference: string,
  caller: Principal,
  port: number,
): Promise<GuestConnection> => {
  const view = inventory.find(reference)
  assertMayEnter(caller, view)
  const { id, name, state } = view
  if (!driver.openTunnel) throw new ServiceError('unsupported', `Tunnels are unsupported by the ${driver.kind} driver.`)
  if (state !== 'running')
    throw new ServiceError('conflict', `${name} is ${state}, so nothing answers on its ports; start it first.`)
  const connection = await driver.openTunnel(id, port)
  return { relay: socket => relay(socket, connection), destroy: () => void connection.destroy() }
}
