import { isLoopbackHost } from '#lib/calls/loopback.ts'
import { isFault, ServiceError } from '#lib/errors.ts'
import type { Publish } from '#lib/events/events.ts'
import type { Store } from '#lib/storage/store.ts'
import { createHeartbeats, type HeartbeatOptions, type Heartbeats } from './heartbeats.ts'
import { createHostEvent } from './host-events.ts'
import { createHostKey } from './host-key.ts'
import type { HostTable } from './host-table.ts'
import type { CreateHost, HostRecord, RegisteredHost, UpdateHost } from './schemas.ts'
import { isUnreachable, type StoredHost, toHostRecord, toMachineDocumentId } from './stored-host.ts'

/** The hosts that this service controls. A `reference` is an id or a name, in any case. The methods throw `not-found`. */
export interface Hosts {
  list(): readonly HostRecord[]
  show(reference: string): HostRecord
  /** Registers a host. The record has its key, which is never shown again. Throws `conflict` and `invalid`. */
  register(request: CreateHost): Promise<RegisteredHost>
  /** Changes the address and the labels of a host. Throws `invalid`. */
  update(reference: string, changes: UpdateHost): Promise<HostRecord>
  /** A drained host gets no new machines. Those that it has stay and can be used. */
  setDrained(reference: string, drained: boolean): Promise<HostRecord>
  /** Forgets a host and its key. Nothing changes on the host itself. */
  remove(reference: string): Promise<void>
  /** Throws `unauthenticated` for a key that is not that of the host. */
  admit: Heartbeats['admit']
  heartbeat: Heartbeats['accept']
}

interface Options {
  readonly store: Store
  readonly table: HostTable
  readonly publish: Publish
}

/** Creates the service of hosts over an open table. */
export const createHosts = ({
  store,
  table,
  publish,
  onConnections,
}: Options & Pick<HeartbeatOptions, 'onConnections'>): Hosts => {
  const checkUrl = (url: string): void => {
    const { protocol, hostname } = new URL(url)
    if (protocol === 'https:' || isLoopbackHost(hostname)) return
    throw new ServiceError(
      'invalid',
      'url must begin with https://, because this service sends the rights of users there; http:// is for loopback only.',
      { stack: [{ error: 'must begin with https://', path: 'url' }] },
    )
  }
  const toRecord = (host: StoredHost): HostRecord => toHostRecord(host, table.machinesOf(host.id).length)
  const change = async (reference: string, changes: Partial<StoredHost>): Promise<HostRecord> => {
    const found = table.find(reference)
    const apply = (host: StoredHost): StoredHost => ({ ...host, ...changes, updated_at: new Date().toISOString() })
    const host = await table.hosts.update(found.id, apply, [publish(createHostEvent('UPDATED', found, changes))])
    table.refresh(found.id)
    return toRecord(host)
  }

  const heartbeats = createHeartbeats({ store, table, publish, onConnections })

  return {
    list: () => table.list().map(toRecord),
    show: reference => toRecord(table.find(reference)),
    async register({ name, url, labels }) {
      checkUrl(url)
      const id = crypto.randomUUID()
      const { key, hash } = createHostKey(id)
      const now = new Date().toISOString()
      const host: StoredHost = {
        id,
        name,
        url,
        labels,
        drained: false,
        key_hash: hash,
        unreachable_published: false,
        created_at: now,
        updated_at: now,
      }
      await store.commit([table.hosts.put(host), publish(createHostEvent('ADDED', host))]).catch((error: unknown) => {
        throw isFault(error, 'conflict')
          ? new ServiceError('conflict', `There is a host with the name ${name} already.`)
          : error
      })
      table.refresh(id)
      return { ...toRecord(host), key }
    },
    async update(reference, { url, labels }) {
      if (url !== undefined) checkUrl(url)
      return change(reference, { ...(url !== undefined && { url }), ...(labels && { labels }) })
    },
    setDrained: (reference, drained) => change(reference, { drained }),
    async remove(reference) {
      const host = table.find(reference)
      const machines = table.machinesOf(host.id)
      await store.commit([
        table.hosts.remove({ id: host.id }),
        ...machines.map(({ ID }) => table.machines.remove({ id: toMachineDocumentId(host.id, ID) })),
        publish(createHostEvent('REMOVED', host)),
      ])
      table.refresh(host.id)
    },
    admit: heartbeats.admit,
    heartbeat: heartbeats.accept,
  }
}

/** Publishes an event for each host that has become unreachable since the last call. */
export const publishUnreachable = async ({ store, table, publish }: Options): Promise<void> => {
  for (const host of table.list()) {
    if (!isUnreachable(host) || host.unreachable_published || host.heard_at === undefined) continue
    const since = new Date(host.heard_at).toISOString()
    const event = publish(createHostEvent('UNREACHABLE', host, { unreachable_since: since }))
    // A heartbeat that comes meanwhile has another revision, and wins.
    await store.commit([table.hosts.put({ ...host, unreachable_published: true }), event]).catch((error: unknown) => {
      if (!isFault(error, 'conflict')) throw error
    })
    table.refresh(host.id)
  }
}
