import type { Network } from '../../machine-parts.ts'
import { parseMode } from '../../network-modes.ts'
import { createNetAdminError, type Interface, listInterfaces, runIp } from './host-commands.ts'
import { nameService, nameShaper, nameTap } from './names.ts'

/** A card that is on a bridge of the host by a tap: its machine, its name, and the bridge. */
export interface TapCard {
  readonly machineId: string
  readonly card: string
  readonly bridge: string
}

/** Whether a card has a tap on the host. */
export const hasTap = ({ mode }: Pick<Network, 'mode'>): boolean =>
  mode !== undefined && ['bridge', 'network'].includes(parseMode(mode).kind)

/** Runs a command for a mode of a network. A refusal of the system for lack of rights names the capability. */
export const administer = async <T>(mode: string, work: () => Promise<T>): Promise<T> => {
  try {
    return await work()
  } catch (error) {
    if (error instanceof Error && /operation not permitted|permission denied/i.test(error.message))
      throw createNetAdminError(mode)
    throw error
  }
}

/**
 * Makes the tap of a card anew, without limits, and puts it on its bridge. It stays when QEMU ends. Its alias says to whom it
 * belongs. `folder` is the folder of the networks of this service; `uid` is that of QEMU, which opens the tap by its name.
 */
export const createTap = async (
  { machineId, card, bridge }: TapCard,
  { folder, uid }: { readonly folder: string; readonly uid: number },
): Promise<string> => {
  const name = nameTap(machineId, card)
  const shaper = nameShaper(machineId, card)
  const interfaces = await listInterfaces()
  if (interfaces.some(found => found.name === name)) await runIp('tuntap', 'del', 'dev', name, 'mode', 'tap')
  if (interfaces.some(found => found.name === shaper)) await removeInterface(shaper)
  await runIp('tuntap', 'add', 'dev', name, 'mode', 'tap', 'user', String(uid))
  try {
    await runIp('link', 'set', 'dev', name, 'alias', `${nameService(folder)} ${machineId} ${card}`)
    await runIp('link', 'set', 'dev', name, 'master', bridge, 'up')
  } catch (error) {
    await removeInterface(name)
    throw error
  }
  return name
}

/** Removes an interface of this service. One that is gone already is no mistake. */
export const removeInterface = async (name: string): Promise<void> => {
  try {
    await runIp('link', 'delete', 'dev', name)
  } catch (error) {
    if ((await listInterfaces()).some(found => found.name === name)) throw error
  }
}

/** The interfaces that a card can have on the host: the type of each, and its name. */
const cardInterfaces = { tun: nameTap, ifb: nameShaper } as const

/** An interface of a card on the host. */
export interface CardInterface extends Omit<TapCard, 'bridge'> {
  readonly name: string
  readonly kind: keyof typeof cardInterfaces
}

/** Returns the interfaces of cards of this service among those of the host. */
export const findCardInterfaces = (interfaces: readonly Interface[], folder: string): readonly CardInterface[] => {
  const start = `${nameService(folder)} `
  return interfaces.flatMap(({ name, alias, kind }) => {
    if ((kind !== 'tun' && kind !== 'ifb') || !alias.startsWith(start)) return []
    const [machineId = '', card = ''] = alias.slice(start.length).split(' ')
    return name === cardInterfaces[kind](machineId, card) ? [{ name, kind, machineId, card }] : []
  })
}
