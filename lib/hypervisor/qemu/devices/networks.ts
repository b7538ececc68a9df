import { ServiceError } from '#lib/errors.ts'
import type { Definition } from '../../definition.ts'
import type { Network } from '../../machine-parts.ts'
import { assertNetworks, findForwardCard } from '../../network-modes.ts'
import { getCardName } from '../../parts.ts'
import { nameSocketParts } from '../network/netdev.ts'
import type { Qmp } from '../qmp.ts'
import { describeCard, describeNetdevs } from '../arguments/networks.ts'
import {
  assertTakesParts,
  type Change,
  compareParts,
  isRunning,
  type PartChange,
  refuseWhileRunning,
  recordPart,
} from './change.ts'
import { plug, unplug } from './plug.ts'
import type { Step } from './step.ts'

/** Takes the back ends of a card from QEMU. A machine of an older version has only that with the name of the card. */
const removeNetdevs = async (qmp: Qmp, name: string, { mode }: Network): Promise<void> => {
  const parts = mode === 'nat' ? nameSocketParts(name).flatMap(({ socket, port }) => [port, socket]) : []
  for (const id of parts) await qmp.execute('netdev_del', { id }).catch(() => undefined)
  await qmp.execute('netdev_del', { id: name })
}

/** Gives QEMU the back ends of a card and the card itself, or neither. */
const plugCard = async (
  { view, network, running }: Change,
  machine: Definition,
  name: string,
  card: Network,
): Promise<void> => {
  const { qmp, warn } = running()
  const { links, abandon } = await network.prepare(machine, view.home, name)
  try {
    try {
      for (const netdev of describeNetdevs(machine, name, card, links.get(name)))
        await qmp.execute('netdev_add', netdev)
      await plug(running(), describeCard(machine, name, card))
    } catch (error) {
      await removeNetdevs(qmp, name, card).catch(warn)
      throw error
    }
  } catch (error) {
    abandon()
    await network.release(view.id, view.definition.networks).catch(warn)
    throw error
  }
}

const addCard = (change: Change, name: string, card: Network): Step => {
  const { next, running, network, view } = change
  assertTakesParts(change, name)
  if (card.port === undefined) refuseWhileRunning(name, ', for it has no free slot')
  const device = describeCard(next, name, card)
  return {
    phase: 'give',
    record: recordPart('networks', name, card),
    apply: () => plugCard(change, next, name, card),
    async undo() {
      await unplug(running(), device)
      await removeNetdevs(running().qmp, name, card)
      await network.release(view.id, view.definition.networks)
    },
  }
}

const removeCard = (change: Change, name: string, card: Network): Step => {
  const { view, running } = change
  if (card.port === undefined) refuseWhileRunning(name, ', for it is part of the board')
  const device = describeCard(view.definition, name, card)
  return {
    phase: 'release',
    record: recordPart('networks', name, undefined),
    apply: () => unplug(running(), device),
    undo: () => plug(running(), device),
    finish: () => removeNetdevs(running().qmp, name, card),
  }
}

const planCard = (change: Change, { name, before, after }: PartChange<Network>): Step[] => {
  if (!isRunning(change)) return []
  if (!before) return [addCard(change, name, after)]
  return after ? refuseWhileRunning(name) : [removeCard(change, name, before)]
}

/** Returns the steps that change the network cards of a machine. Throws `conflict` and `invalid`. */
export const planNetworkSteps = (change: Change): readonly Step[] => {
  const { networks, forwards = [], name } = change.next
  const changes = compareParts(change.view.definition.networks, networks, getCardName)
  if (changes.length === 0) return []
  assertNetworks(networks)
  if (forwards.length > 0 && findForwardCard(networks) === undefined)
    throw new ServiceError('conflict', `The forwards of ${name} need an isolated card; delete them first.`)
  return changes.flatMap(part => planCard(change, part))
}
