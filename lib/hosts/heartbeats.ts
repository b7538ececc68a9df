import { createKeyedMutex } from '#lib/async/keyed-mutex.ts'
import { ServiceError } from '#lib/errors.ts'
import type { Publish } from '#lib/events/events.ts'
import type { Store, Write } from '#lib/storage/store.ts'
import { type Heartbeat, heartbeatInterval, type HeartbeatReply } from './heartbeat-schemas.ts'
import { createHostEvent, toRelayedEvent } from './host-events.ts'
import { parseHostKey, matchesSecret } from './host-key.ts'
import type { HostTable } from './host-table.ts'
import { createRecordLimit } from './record-limit.ts'
import { type StoredHost, toMachineDocumentId } from './stored-host.ts'

/** The heartbeats of hosts. Both methods throw `unauthenticated` for a key that is not that of the host. */
export interface Heartbeats {
  /** Checks the key alone, before anything else is read. */
  admit(hostId: string, key: string | null): Promise<void>
  accept(hostId: string, key: string | null, heartbeat: Heartbeat): Promise<HeartbeatReply>
}

export interface HeartbeatOptions {
  readonly store: Pick<Store, 'commit'>
  readonly table: HostTable
  readonly publish: Publish
  /** Called with the ids of the assertions under which WebSockets to a host are open, after each of its heartbeats. */
  readonly onConnections: (hostId: string, assertions: readonly string[]) => void
}

/** A hash that no secret has. A key is compared for an unknown host too, so that the time does not show that it is unknown. */
const unmatchableHash = '-'.repeat(64)

/** Opens the heartbeats of hosts. Each is stored in one commit, with its events and the host's cursor. */
export const createHeartbeats = ({ store, table, publish, onConnections }: HeartbeatOptions): Heartbeats => {
  const runExclusive = createKeyedMutex()

  const authenticate = async (hostId: string, key: string | null): Promise<void> => {
    const given = parseHostKey(key ?? '')
    const host = table.get(hostId.toLowerCase())
    const matches = matchesSecret(given?.secret ?? '', host?.key_hash ?? unmatchableHash)
    if (!host || !matches || given?.hostId !== host.id)
      throw new ServiceError('unauthenticated', 'This is not the key of a registered host. Register the host again.')
  }

  /** The writes for the machines of a host, and the ids of those that change. */
  const prepareMachines = (
    hostId: string,
    machines: Heartbeat['machines'],
  ): { readonly writes: readonly Write[]; readonly changedIds: ReadonlySet<string> } => {
    if (!machines) return { writes: [], changedIds: new Set() }
    const existing = new Set(machines.ids)
    const gone = table.machinesOf(hostId).filter(({ ID }) => !existing.has(ID))
    const changed = new Map(machines.changed.filter(({ ID }) => existing.has(ID)).map(record => [record.ID, record]))
    const kept = table.machinesOf(hostId).filter(({ ID }) => existing.has(ID) && !changed.has(ID))
    const keepWithinLimits = createRecordLimit(kept)
    const writes = [
      ...gone.map(({ ID }) => table.machines.remove({ id: toMachineDocumentId(hostId, ID) })),
      ...[...changed.values()].map(record => {
        const id = toMachineDocumentId(hostId, record.ID)
        const rev = table.machines.getSync(id)?.rev
        return table.machines.put({
          id,
          host: hostId,
          record: keepWithinLimits(record),
          ...(rev !== undefined && { rev }),
        })
      }),
    ]
    return { writes, changedIds: new Set([...gone.map(({ ID }) => ID), ...changed.keys()]) }
  }

  /** The writes for the events of a host. If they do not follow the events that this service has, they change nothing. */
  const prepareEvents = (host: StoredHost, events: Heartbeat['events']) => {
    if (!events) return { writes: [], cursor: host.cursor }
    const isNext = host.cursor === undefined || (events.replaces ?? events.after) === host.cursor
    if (!isNext) return { writes: [], cursor: host.cursor }
    const isGap = host.cursor !== undefined && events.replaces !== undefined
    const missed = isGap ? [createHostEvent('EVENTS_MISSED', host, { from: host.cursor, to: events.after })] : []
    return {
      writes: [...missed, ...events.entries.map(event => toRelayedEvent(host, event))].map(publish),
      cursor: events.next,
    }
  }

  const acceptOne = async (hostId: string, heartbeat: Heartbeat): Promise<HeartbeatReply> => {
    const known = table.get(hostId)
    if (!known) throw new ServiceError('unauthenticated', 'The host was removed meanwhile.')
    // A host that has gone back to an earlier version names none.
    const { nonce: _, ...host } = known
    const machines = prepareMachines(hostId, heartbeat.machines)
    const events = prepareEvents(host, heartbeat.events)
    const { version, driver, architecture, capacity, nonce, connections = [] } = heartbeat
    const tag = heartbeat.machines?.tag ?? host.machines_tag
    const next: StoredHost = {
      ...host,
      report: { version, driver, architecture, capacity },
      ...(nonce !== undefined && { nonce }),
      heard_at: Date.now(),
      unreachable_published: false,
      ...(events.cursor !== undefined && { cursor: events.cursor }),
      ...(tag !== undefined && { machines_tag: tag }),
    }
    const isBack = host.unreachable_published || host.heard_at === undefined
    await store.commit([
      table.hosts.put({ ...next, rev: known.rev }),
      ...machines.writes,
      ...(isBack ? [publish(createHostEvent('REACHABLE', host))] : []),
      ...events.writes,
    ])
    table.refresh(hostId, machines.changedIds)
    onConnections(hostId, connections)
    return {
      ...(next.cursor !== undefined && { cursor: next.cursor }),
      ...(next.machines_tag !== undefined && { machines_tag: next.machines_tag }),
      interval: heartbeatInterval,
    }
  }

  return {
    admit: authenticate,
    async accept(hostId, key, heartbeat) {
      await authenticate(hostId, key)
      const id = hostId.toLowerCase()
      return runExclusive(id, () => acceptOne(id, heartbeat))
    },
  }
}
