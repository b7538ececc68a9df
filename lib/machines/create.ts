import { refuseBeyondHost } from './capacity.ts'
import type { MachineContext } from './context.ts'
import { networkMessages, networkModeOf } from './network.ts'
import type { CreatedMachine, CreateMachine } from './schemas.ts'

/** Makes a machine. Throws `invalid`, `conflict` for a name in use, and what the driver refuses with. */
export const createMachine = async (
  { driver, inventory, names, host }: MachineContext,
  request: CreateMachine,
): Promise<CreatedMachine> => {
  refuseBeyondHost(host, request)
  using _name = names.reserve(request.name)
  const view = await driver.create(request)
  inventory.accept(view)
  const network = networkModeOf(view, driver.platform)
  return {
    id: view.id,
    name: view.name,
    owner: host.user,
    current_state: view.state,
    ...(network && { network, message: networkMessages[network] }),
  }
}
