import * as z from 'zod'
import { HostMachine, unreachableAfter } from './heartbeat-schemas.ts'
import { type HostRecord, HostReport } from './schemas.ts'

/** A host as it is stored. */
export const StoredHost = z.object({
  id: z.uuid(),
  name: z.string(),
  url: z.string(),
  labels: z.record(z.string(), z.string()),
  drained: z.boolean(),
  /** SHA-256 of the key, in hexadecimal. */
  key_hash: z.string(),
  report: HostReport.optional(),
  /** Names the present run of the host in assertions that are for it. */
  nonce: z.uuid().optional(),
  /** Milliseconds since 1970. */
  heard_at: z.number().optional(),
  /** Whether the log has the event that the host is unreachable, since its last heartbeat. */
  unreachable_published: z.boolean().default(false),
  /** The position in the host's event log up to which its events are in the log of this service. */
  cursor: z.string().optional(),
  machines_tag: z.string().optional(),
  created_at: z.string(),
  updated_at: z.string(),
})
export type StoredHost = z.infer<typeof StoredHost>

/** The last known record of a machine of a host. */
export const StoredMachine = z.object({ id: z.string(), host: z.uuid(), record: HostMachine })
export type StoredMachine = z.infer<typeof StoredMachine>

/** The id of the document of a machine. Two hosts may have a machine with the same id, such as a restored one. */
export const toMachineDocumentId = (hostId: string, machineId: string): string => `${hostId}_${machineId}`

/** Whether a host that has been heard is silent for too long. */
export const isUnreachable = ({ heard_at: heardAt }: Pick<StoredHost, 'heard_at'>): boolean =>
  heardAt !== undefined && Date.now() - heardAt > unreachableAfter * 1000

const formatTime = (milliseconds: number): string => new Date(milliseconds).toISOString()

/** Says that a host does not answer, and since when if that is known, for records and messages. */
export const describeSilence = ({ name, heard_at: heardAt }: Pick<StoredHost, 'name' | 'heard_at'>): string =>
  heardAt !== undefined && isUnreachable({ heard_at: heardAt })
    ? `host ${name} unreachable since ${formatTime(heardAt)}`
    : `host ${name} does not answer`

/** The record of a host. It leaves out the hash of the key. */
export const toHostRecord = (host: StoredHost, machines: number): HostRecord => {
  const { heard_at: heardAt, report } = host
  const silent = isUnreachable(host)
  return {
    id: host.id,
    name: host.name,
    url: host.url,
    labels: host.labels,
    state: heardAt === undefined ? 'new' : silent ? 'unreachable' : 'reachable',
    ...(heardAt !== undefined && silent && { unreachable_since: formatTime(heardAt) }),
    drained: host.drained,
    machines,
    ...report,
    ...(heardAt !== undefined && { heard_at: formatTime(heardAt) }),
    created_at: host.created_at,
    updated_at: host.updated_at,
  }
}
