import type { NewEvent } from '#lib/events/event.ts'
import type { HostEvent } from './heartbeat-schemas.ts'
import { toRecordOfHost } from './machine-records.ts'
import { maxRecordLength } from './record-limit.ts'
import type { StoredHost } from './stored-host.ts'

type Named = Pick<StoredHost, 'id' | 'name' | 'url'>

/** An event about a host. */
export const createHostEvent = (
  what: 'ADDED' | 'UPDATED' | 'REMOVED' | 'REACHABLE' | 'UNREACHABLE' | 'EVENTS_MISSED',
  { id, name }: Named,
  details: Readonly<Record<string, unknown>> = {},
): NewEvent => ({
  type: 'orchestrator',
  message: `HOST_${what}`,
  body: { host_id: id, host: name, ...details },
  audience: { claims: ['LIST_HOST'] },
})

const readId = (body: HostEvent['body']): string | undefined => {
  const id = body?.['vm_id']
  return typeof id === 'string' ? id.slice(0, 64) : undefined
}

/**
 * The event of a host as it goes into the log of this service: with its id, the name of the host, the time that the host
 * says, and the audience that such events have here. Its own time is that of this log, whose events are in order.
 */
export const toRelayedEvent = (
  host: Named,
  { id, event_type: type, timestamp, message, body }: HostEvent,
): NewEvent => {
  // What a host writes into the log of this service has a limit. The machine and its host are always named.
  const isTooLong = JSON.stringify(body ?? {}).length > maxRecordLength
  const kept = isTooLong ? { vm_id: readId(body) } : body
  const machine = kept?.['new_vm']
  return {
    type,
    message,
    body: {
      ...kept,
      ...(typeof machine === 'object' && machine !== null && { new_vm: toRecordOfHost(machine, host) }),
      host_id: host.id,
      host: host.name,
      occurred_at: timestamp,
    },
    // Only a super user gets events of caches: the host does not know who may see a manifest of this service.
    audience: { claims: type === 'pdfm' ? [message.startsWith('IMAGE_') ? 'LIST_IMAGE' : 'LIST_VM'] : [] },
    id,
  }
}
