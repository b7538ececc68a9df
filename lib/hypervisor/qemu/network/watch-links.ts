import { setTimeout as wait } from 'node:timers/promises'
import * as z from 'zod'
import { messageOf } from '#lib/errors.ts'
import type { Logger } from '#lib/platform/log.ts'
import type { MachineView } from '../../driver.ts'
import { getCardName } from '../../parts.ts'
import type { Qmp, QmpEvent } from '../qmp.ts'
import { createThrottle } from '../throttle.ts'
import type { HostNetwork } from './host-network.ts'
import { isConnected, listDisconnectedSockets } from './monitor.ts'
import { buildSocketParts, nameSocketParts, type SocketParts } from './netdev.ts'

/** Watches the cards of a machine that lead to a passt, and starts another passt in place of one that has ended. */
export interface LinkWatch {
  /** Finds the cards of this QEMU that have lost their passt while nobody watched. */
  attach(qmp: Qmp): Promise<void>
  onEvent(event: QmpEvent): void
}

interface Options {
  readonly home: string
  readonly network: Pick<HostNetwork, 'prepare'>
  readonly view: () => MachineView
  /** Receives the names of all cards that are disconnected now. */
  readonly onChange: (cards: readonly string[]) => void
  readonly log: Logger
}

/** How many passt processes are started at once in place of others, and the milliseconds for each further one. */
const pace = [5, 30_000] as const

const Disconnection = z.object({ 'netdev-id': z.string() })

export const createLinkWatch = ({ home, network, view, onChange, log }: Options): LinkWatch => {
  const reserveStart = createThrottle(...pace)
  /** The connected QEMU. */
  let current: Qmp | undefined
  /** The cards of the current QEMU that have lost their passt. */
  let lost = new Set<string>()

  /** Returns the card that a back end of QEMU belongs to. QEMU decides what it calls them. */
  const findCard = (netdev: string): string | undefined =>
    view()
      .definition.networks.flatMap((card, at) => (card.mode === 'nat' ? [getCardName(card, at)] : []))
      .find(card => netdev === card || nameSocketParts(card).some(({ socket }) => netdev === socket))

  const remove = async (qmp: Qmp, { socket, port }: SocketParts): Promise<void> => {
    for (const id of [port, socket]) await qmp.execute('netdev_del', { id }).catch(() => undefined)
  }
  /**
   * Starts a passt and puts it in the place of the former one, whose socket is `former`. That one goes last: a hub without another port
   * takes nothing from the card, and QEMU 7.2 never tells the card that it takes something again.
   */
  const connect = async (qmp: Qmp, card: string, former: string): Promise<void> => {
    const { links, abandon } = await network.prepare(view().definition, home, card)
    try {
      const link = links.get(card)
      if (link?.kind !== 'socket') throw new Error(`${card} is no card of passt any more`)
      const [first, second] = nameSocketParts(card)
      const [next, old] = former === first.socket ? [second, first] : [first, second]
      // A try before this one may have left them.
      await remove(qmp, next)
      for (const part of buildSocketParts(card, link.path, next)) await qmp.execute('netdev_add', part)
      if (!(await isConnected(qmp, next.socket))) throw new Error('QEMU did not connect to its passt')
      await remove(qmp, old)
    } catch (error) {
      abandon()
      throw error
    }
  }
  const connectAgain = async (qmp: Qmp, card: string, former: string): Promise<void> => {
    const { id } = view()
    const isLost = (): boolean => current === qmp && lost.has(card) && findCard(card) !== undefined
    for (let reported = ''; isLost();) {
      await wait(reserveStart(), undefined, { ref: false })
      if (!isLost()) return
      try {
        await connect(qmp, card, former)
        lost.delete(card)
        onChange([...lost])
        return log.info('{id}: the network card {card} is connected again', { id, card })
      } catch (error) {
        const reason = messageOf(error)
        if (reason !== reported)
          log.warning('{id}: {card} stays disconnected, and is tried again: {reason}', { id, card, reason })
        reported = reason
      }
    }
  }
  const onDisconnected = (qmp: Qmp, netdev: string): void => {
    const card = findCard(netdev)
    if (card === undefined || lost.has(card)) return
    const { id } = view()
    lost.add(card)
    onChange([...lost])
    log.warning('{id}: the network card {card} is disconnected, because its passt has ended', { id, card })
    if (netdev !== card) return void connectAgain(qmp, card, netdev)
    log.warning('{id}: the machine was started by an older version; restart it to connect {card}', { id, card })
  }

  return {
    async attach(qmp) {
      current = qmp
      lost = new Set()
      onChange([])
      void qmp.closed.then(() => {
        if (current === qmp) current = undefined
      })
      if (!view().definition.networks.some(({ mode }) => mode === 'nat')) return
      // A QEMU that does not answer is the business of others.
      for (const netdev of await listDisconnectedSockets(qmp).catch(() => [])) onDisconnected(qmp, netdev)
    },
    onEvent({ event, data }) {
      const found = event === 'NETDEV_STREAM_DISCONNECTED' ? Disconnection.safeParse(data).data : undefined
      if (found && current) onDisconnected(current, found['netdev-id'])
    },
  }
}
