import { assertWithinHost } from './capacity.ts'
import type { MachineContext } from './context.ts'
import { networkMessages, findNetworkMode } from './network.ts'
import type { CreatedMachine, CreateMachine } from './schemas.ts'

/** Creates a machine. Throws `invalid`, `conflict` for a name in use, and the refusals of the driver. */
export const createMachine = async (
  { driver, inventory, names, host }: MachineContext,
  request: CreateMachine,
): Promise<CreatedMachine> => {
  assertWithinHost(host, request)
  using _reservation = names.reserve(request.name)
  const view = await driver.create(request)
  inventory.update(view)
  const network = findNetworkMode(view, driver.platform)
  return {
    id: view.id,
    name: view.name,
    owner: host.user,
    current_state: view.state,
    ...(network && { network, message: networkMessages[network] }),
  }
}
