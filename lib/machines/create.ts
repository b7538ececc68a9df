import type { Principal } from '#lib/access/principal.ts'
import { assertDisksFit, assertWithinHost, sumNewDisks } from './capacity.ts'
import type { MachineContext } from './context.ts'
import { splitSeed } from './create/cloud-init.ts'
import { toExpiry } from './create/lifecycle.ts'
import { readNetworkRequest } from './create/network.ts'
import { assertAddressAllowed, assertPortsFree } from './forwards/check.ts'
import { resolveImages } from './images/resolve-images.ts'
import { describeNetwork, findNetworkMode } from './network.ts'
import type { CreatedMachine, CreateMachine } from './schemas.ts'

/** Who makes a machine: its owner. */
export type Owner = Pick<Principal, 'id' | 'username'>

/** Returns the cards and forwards of a request. Throws `invalid`, `forbidden`, and `conflict` for a port that is taken. */
const planNetwork = (
  { driver, inventory, forwardAddresses }: MachineContext,
  request: Parameters<typeof readNetworkRequest>[0],
): ReturnType<typeof readNetworkRequest> => {
  const parts = readNetworkRequest(request, driver)
  const { forwards = [] } = parts
  for (const forward of forwards) assertAddressAllowed(forward, forwardAddresses)
  assertPortsFree(forwards, inventory.listViews())
  return parts
}

/**
 * Creates a machine of `owner`, or of nobody. Throws `invalid`, `not-found` for an image, `conflict` for a name in use, and the
 * refusals of the driver. `id` is that of the machine; a new one when left out.
 */
export const createMachine = async (
  context: MachineContext,
  { ttl, network: mode, networks, forwards, image, disk_size, ...request }: CreateMachine,
  owner?: Owner,
  id?: string,
): Promise<CreatedMachine> => {
  const { driver, inventory, names, host, leaseImage } = context
  assertWithinHost(host, request)
  using _reservation = names.reserve(request.name)
  const cards = planNetwork(context, { network: mode, networks, forwards })
  // The images stay until the definition of the machine shows that it uses them.
  using images = await resolveImages({ ...request, image, disk_size }, leaseImage)
  assertDisksFit(await host.readDiskSize(), sumNewDisks(images.parts.disks))
  const expiry = ttl === undefined ? {} : { expires_at: toExpiry(ttl) }
  const { seed, machine } = splitSeed(request)
  const view = await driver.create({
    ...machine,
    id,
    ...images.parts,
    ...cards,
    ...expiry,
    firmware: request.firmware ?? images.firmware,
    seed,
    owner: owner?.id,
  })
  inventory.update(view)
  const network = findNetworkMode(view, driver.platform)
  return {
    id: view.id,
    name: view.name,
    owner: owner?.username ?? host.user,
    current_state: view.state,
    ...(network && { network, message: describeNetwork(network) }),
    ...expiry,
  }
}
