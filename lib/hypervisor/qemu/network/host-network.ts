import { createKeyedMutex } from '#lib/async/keyed-mutex.ts'
import { messageOf, ServiceError } from '#lib/errors.ts'
import type { Logger } from '#lib/platform/log.ts'
import type { Account } from '#lib/platform/processes.ts'
import type { Definition } from '../../definition.ts'
import type { Network } from '../../machine-parts.ts'
import { parseMode } from '../../network-modes.ts'
import { getCardName } from '../../parts.ts'
import { canAdministerNetwork, createNetAdminError, listInterfaces, requireProgram } from './host-commands.ts'
import type { Link, Links } from './netdev.ts'
import { ensureNetwork, findNetworks, removeNetwork } from './networks.ts'
import { killUnusedPasst, type Passt, requirePasst, startPasst } from './passt.ts'
import { limitTap } from './rates.ts'
import { administer, type CardInterface, createTap, findCardInterfaces, hasTap, removeInterface } from './taps.ts'

/** A machine as far as its cards are concerned. */
export type NetworkedMachine = Pick<Definition, 'id' | 'name' | 'networks' | 'limits'>

/** The links of a machine that is about to start. */
export interface PreparedLinks {
  readonly links: Links
  /** Ends what waits for a QEMU that did not start. */
  abandon(): void
}

/** What the cards of machines need on the host: taps, bridges, and passt processes. */
export interface HostNetwork {
  /**
   * Throws `unsupported` if the host lacks what a mode or a limit of the cards needs, which the message names, and `invalid` for a
   * bridge that is not there. Changes nothing.
   */
  check(machine: Pick<NetworkedMachine, 'networks' | 'limits'>): Promise<void>
  /** Makes the links of all cards of a machine, or of the card `only`, which QEMU needs before it gets the card. */
  prepare(machine: NetworkedMachine, home: string, only?: string): Promise<PreparedLinks>
  /** Limits the cards of a machine that have taps as `machine` has it. Throws `unavailable` with the reason of the system. */
  limit(machine: NetworkedMachine): Promise<void>
  /** Removes the taps of a machine other than those of `keep`. Networks that nobody uses any more go with them. */
  release(id: string, keep?: readonly Network[]): Promise<void>
  /** Ends what a killed service has left for a machine that does not run. */
  recover(id: string): Promise<void>
  /** Removes taps and networks of machines that are gone, and serves the networks again. Logs what fails. */
  reconcile(): Promise<void>
}

interface Options {
  /** The folder of the networks of this service. */
  readonly folder: string
  readonly environment: NodeJS.ProcessEnv
  /** The account that QEMU runs as; undefined for that of the service. */
  readonly account: Account | undefined
  /** Whether the gateway of a nat card leads to the loopback of the host. */
  readonly reachesLoopback: boolean
  /** Returns all machines of this service. */
  readonly listMachines: () => readonly NetworkedMachine[]
  readonly log: Logger
}

/** The host has no rate for cards without a tap, which `assertLimits` refuses. */
const getRate = ({ limits }: Pick<Definition, 'limits'>): number | undefined => limits?.network_bytes_per_second

/** Returns the cards of a machine with their names. */
const listCards = ({ networks }: Pick<Definition, 'networks'>) =>
  networks.map((card, at) => ({ ...card, name: getCardName(card, at) }))

const assertBridgeExists = async (mode: string, bridge: string): Promise<void> => {
  const found = (await listInterfaces()).find(({ name }) => name === bridge)
  if (found?.kind === 'bridge') return
  throw new ServiceError(
    'invalid',
    `${mode}: ${found ? `the interface ${bridge} of this host is no bridge` : `this host has no bridge ${bridge}`}. Make it (ip link add ${bridge} type bridge), or use another mode.`,
  )
}

/** Creates a function that tells whether an interface belongs to a card of these machines. */
const createFilter = (
  machines: readonly Pick<Definition, 'id' | 'networks'>[],
): ((found: Pick<CardInterface, 'machineId' | 'card'>) => boolean) => {
  const cards = new Set(
    machines.flatMap(({ id, networks }) =>
      listCards({ networks })
        .filter(hasTap)
        .map(({ name }) => `${id} ${name}`),
    ),
  )
  return ({ machineId, card }) => cards.has(`${machineId} ${card}`)
}

/** Creates the host's side of all network cards. Its changes of the host run one after the other. */
export const createHostNetwork = (options: Options): HostNetwork => {
  const { folder, environment, account, reachesLoopback, listMachines, log } = options
  const context = { folder, environment }
  const mutex = createKeyedMutex()
  const uid = account?.uid ?? process.getuid?.() ?? 0

  const isMember = (mode: string | undefined, network: string): boolean => mode === `network:${network}`
  const listMembers = (network: string, extra?: NetworkedMachine) => {
    const machines = listMachines().filter(({ id }) => id !== extra?.id)
    return [...machines, ...(extra ? [extra] : [])].flatMap(({ name, networks }) =>
      networks.filter(({ mode }) => isMember(mode, network)).map(({ mac }) => ({ mac, machine: name })),
    )
  }
  const makeTap = (machine: NetworkedMachine, card: string, mode: string): Promise<Link> =>
    mutex('host', () =>
      administer(mode, async () => {
        const { kind, name } = parseMode(mode)
        const bridge = kind === 'network' ? await ensureNetwork(context, name, listMembers(name, machine)) : name
        if (kind === 'bridge') await assertBridgeExists(mode, bridge)
        const tap = { machineId: machine.id, card, bridge }
        const link = { kind: 'tap' as const, name: await createTap(tap, { folder, uid }) }
        const rate = getRate(machine)
        if (rate !== undefined) await limitTap(tap, { folder, rate })
        return link
      }),
    )
  const makePasst = (machine: NetworkedMachine, home: string, card: string): Promise<Passt> =>
    startPasst(card, { id: machine.id, home, account, environment, reachesLoopback })

  const removeUnusedNetworks = async (): Promise<void> => {
    const used = new Set(listMachines().flatMap(({ networks }) => networks.flatMap(({ mode }) => mode ?? [])))
    for (const network of findNetworks(await listInterfaces(), context))
      if (!used.has(`network:${network}`)) await removeNetwork(context, network)
  }
  /** Gives taps the limits of their machines: the service may have been killed in the middle of a change. */
  const restoreRates = async (found: readonly CardInterface[]): Promise<void> => {
    const machines = new Map(listMachines().map(machine => [machine.id, machine]))
    for (const tap of found.filter(({ kind }) => kind === 'tun')) {
      const rate = getRate(machines.get(tap.machineId) ?? {})
      const isLimited = found.some(
        ({ kind, machineId, card }) => kind === 'ifb' && machineId === tap.machineId && card === tap.card,
      )
      if (rate !== undefined || isLimited) await limitTap(tap, { folder, rate })
    }
  }
  const check: HostNetwork['check'] = async ({ networks, limits }) => {
    for (const { mode = '' } of networks) {
      if (mode === 'nat') await requirePasst()
      if (!hasTap({ mode })) continue
      await requireProgram('ip', 'iproute2')
      if (getRate({ limits }) !== undefined) await requireProgram('tc', 'iproute2')
      const { kind, name } = parseMode(mode)
      if (kind === 'bridge') await assertBridgeExists(mode, name)
      if (!(await canAdministerNetwork())) throw createNetAdminError(mode)
      if (kind === 'network') {
        await requireProgram('dnsmasq', 'dnsmasq-base')
        await requireProgram('nft', 'nftables')
      }
    }
  }

  return {
    check,
    async prepare(machine, home, only) {
      const links = new Map<string, Link>()
      const waiting: Passt[] = []
      const abandon = (): void => waiting.forEach(passt => passt.kill())
      try {
        for (const { name, mode = '' } of listCards(machine)) {
          if (only !== undefined && name !== only) continue
          if (hasTap({ mode })) links.set(name, await makeTap(machine, name, mode))
          if (mode !== 'nat') continue
          const passt = await makePasst(machine, home, name)
          waiting.push(passt)
          links.set(name, { kind: 'socket', path: passt.path })
        }
      } catch (error) {
        abandon()
        throw error
      }
      return { links, abandon }
    },
    limit: machine =>
      mutex('host', async () => {
        for (const { name, mode = '' } of listCards(machine).filter(hasTap))
          await administer(mode, () =>
            limitTap({ machineId: machine.id, card: name }, { folder, rate: getRate(machine) }),
          )
      }),
    release: (id, keep = []) =>
      mutex('host', async () => {
        const isKept = createFilter([{ id, networks: [...keep] }])
        const interfaces = await listInterfaces().catch(() => [])
        for (const each of findCardInterfaces(interfaces, folder))
          if (each.machineId === id && !isKept(each)) await removeInterface(each.name)
        if (findNetworks(interfaces, context).length > 0) await removeUnusedNetworks()
      }),
    recover: killUnusedPasst,
    reconcile: () =>
      mutex('host', async () => {
        try {
          const interfaces = await listInterfaces().catch(() => [])
          const found = findCardInterfaces(interfaces, folder)
          const isKnown = createFilter(listMachines())
          for (const each of found) if (!isKnown(each)) await removeInterface(each.name)
          await restoreRates(found.filter(isKnown))
          await removeUnusedNetworks()
          for (const network of findNetworks(interfaces, context))
            if (listMembers(network).length > 0) await ensureNetwork(context, network, listMembers(network))
        } catch (error) {
          log.warning('The networks of machines could not be restored: {reason}', { reason: messageOf(error) })
        }
      }),
  }
}
