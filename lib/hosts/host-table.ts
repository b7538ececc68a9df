import { ServiceError } from '#lib/errors.ts'
import type { Store, Stored } from '#lib/storage/store.ts'
import type { HostMachine } from './heartbeat-schemas.ts'
import { isUnreachable, StoredHost, StoredMachine, toMachineDocumentId } from './stored-host.ts'

type Host = StoredHost & Stored

/** A machine with the host that had it at the last heartbeat. */
export interface FoundMachine {
  readonly host: StoredHost
  readonly record: HostMachine
}

/** The registered hosts and the last known records of their machines, as this process has them in memory. */
export interface HostTable {
  readonly hosts: ReturnType<typeof openCollections>['hosts']
  readonly machines: ReturnType<typeof openCollections>['machines']
  /** All hosts, by name. */
  list(): readonly Host[]
  /** Finds a host by its id or name, in any case. Throws `not-found`. */
  find(reference: string): Host
  get(id: string): Host | undefined
  /** The last known records of the machines of a host. */
  machinesOf(hostId: string): readonly HostMachine[]
  /** Finds the machines with this id, or else with this name, in any case. */
  findMachines(reference: string): readonly FoundMachine[]
  /** Reads again what a commit has changed of a host and of these machines. */
  refresh(hostId: string, machineIds?: Iterable<string>): void
  /** Remembers that a host did not answer. Until its next heartbeat nobody waits for it. */
  reportSilence(hostId: string): void
  /** Whether a host can be asked now: it is heard, and has answered since. */
  isAnswering(host: StoredHost): boolean
}

const openCollections = (store: Store) => ({
  hosts: store.collection('hosts', StoredHost, { unique: { name: ({ name }) => name.toLowerCase() } }),
  machines: store.collection('host-machines', StoredMachine),
})

/** Opens the hosts of a store. This process is the only writer, so that what it has in memory stays true. */
export const openHostTable = async (store: Store): Promise<HostTable> => {
  const { hosts, machines } = openCollections(store)
  const hostsById = new Map<string, Host>((await hosts.list()).map(host => [host.id, host]))
  const recordsByHost = new Map<string, Map<string, HostMachine>>()
  const silentSince = new Map<string, number>()

  const getRecords = (hostId: string): Map<string, HostMachine> => {
    const known = recordsByHost.get(hostId)
    if (known) return known
    const made = new Map<string, HostMachine>()
    recordsByHost.set(hostId, made)
    return made
  }
  for (const { host, record } of await machines.list()) getRecords(host).set(record.ID, record)

  const list = (): readonly Host[] => [...hostsById.values()].sort((a, b) => a.name.localeCompare(b.name))

  return {
    hosts,
    machines,
    list,
    get: id => hostsById.get(id),
    find(reference) {
      const wanted = reference.toLowerCase()
      const found = hostsById.get(wanted) ?? list().find(({ name }) => name.toLowerCase() === wanted)
      if (!found) throw new ServiceError('not-found', `There is no host with the id or name ${reference}.`)
      return found
    },
    machinesOf: hostId => [...getRecords(hostId).values()],
    findMachines(reference) {
      const wanted = reference.toLowerCase()
      const all = list().flatMap(host => [...getRecords(host.id).values()].map(record => ({ host, record })))
      const byId = all.filter(({ record }) => record.ID.toLowerCase() === wanted)
      return byId.length > 0 ? byId : all.filter(({ record }) => record.Name.toLowerCase() === wanted)
    },
    refresh(hostId, machineIds = []) {
      const host = hosts.getSync(hostId)
      if (!host) {
        hostsById.delete(hostId)
        recordsByHost.delete(hostId)
        silentSince.delete(hostId)
        return
      }
      hostsById.set(hostId, host)
      const records = getRecords(hostId)
      for (const id of machineIds) {
        const stored = machines.getSync(toMachineDocumentId(hostId, id))
        if (stored) records.set(id, stored.record)
        else records.delete(id)
      }
    },
    reportSilence: hostId => void silentSince.set(hostId, Date.now()),
    isAnswering(host) {
      const { heard_at: heardAt } = host
      if (heardAt === undefined || isUnreachable(host)) return false
      return (silentSince.get(host.id) ?? 0) <= heardAt
    },
  }
}
