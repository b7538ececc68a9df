import { join } from 'node:path'
import { isInside, removeTree } from '#lib/platform/files.ts'
import { type Member, endDnsmasq, ensureDnsmasq } from './dnsmasq.ts'
import { guardNetwork, removeGuard } from './firewall.ts'
import { type Interface, listInterfaces, runIp } from './host-commands.ts'
import { chooseBridgeMac, nameBridge, nameService } from './names.ts'
import { chooseSubnet, findSubnet } from './subnets.ts'
import { removeInterface } from './taps.ts'

/** What the networks of a service have in common. */
export interface NetworksContext {
  /** Contains a folder for each network. */
  readonly folder: string
  readonly environment: NodeJS.ProcessEnv
}

/** Returns the folder of a network. A name begins with a letter or a digit, so it cannot lead elsewhere. */
const folderOf = ({ folder }: NetworksContext, network: string): string => {
  const path = join(folder, network)
  if (!isInside(folder, path)) throw new Error(`${network} is no name of a network`)
  return path
}

/** Makes the bridge of a network. It is closed to the host before it has an address. */
const createBridge = async (context: NetworksContext, network: string, bridge: string): Promise<string> => {
  const subnet = await chooseSubnet(network)
  const address = `${subnet}.1`
  await guardNetwork({ bridge, address })
  const mac = chooseBridgeMac(bridge)
  // Without a delay, a machine that starts reaches the others at once.
  await runIp('link', 'add', 'name', bridge, 'address', mac, 'type', 'bridge', 'forward_delay', '0')
  await runIp('link', 'set', 'dev', bridge, 'alias', `${nameService(context.folder)} network ${network}`)
  await runIp('address', 'add', `${address}/24`, 'dev', bridge)
  await runIp('link', 'set', 'dev', bridge, 'up')
  return subnet
}

/**
 * Makes a network, or finds it again: its bridge, the rules that close it, and its dnsmasq with the present members. Returns the
 * name of the bridge. Repeatable: a service that was killed in between goes on where it was. Throws `unavailable`.
 */
export const ensureNetwork = async (
  context: NetworksContext,
  network: string,
  members: readonly Member[],
): Promise<string> => {
  const bridge = nameBridge(context.folder, network)
  const exists = (await listInterfaces()).some(({ name }) => name === bridge)
  let subnet = exists ? await findSubnet(bridge) : undefined
  if (subnet === undefined) {
    if (exists) await removeInterface(bridge)
    subnet = await createBridge(context, network, bridge)
  } else await guardNetwork({ bridge, address: `${subnet}.1` })
  const { environment } = context
  await ensureDnsmasq({ folder: folderOf(context, network), network, bridge, subnet, members, environment })
  return bridge
}

/** Removes a network: its dnsmasq, its bridge, its rules and its leases. */
export const removeNetwork = async (context: NetworksContext, network: string): Promise<void> => {
  const folder = folderOf(context, network)
  await endDnsmasq(folder)
  const bridge = nameBridge(context.folder, network)
  await removeInterface(bridge)
  await removeGuard(bridge)
  await removeTree(context.folder, folder)
}

/** Returns the names of the networks of this service that have a bridge among the interfaces of the host. */
export const findNetworks = (interfaces: readonly Interface[], { folder }: NetworksContext): readonly string[] => {
  const start = `${nameService(folder)} network `
  return interfaces.flatMap(({ name, alias, kind }) => {
    const network = alias.slice(start.length)
    return kind === 'bridge' && alias.startsWith(start) && name === nameBridge(folder, network) ? [network] : []
  })
}
