import type { PreparedBody } from '#lib/calls/prepared-body.ts'
import type { Heartbeat, HostMachine } from '../heartbeat-schemas.ts'

/** What a heartbeat says about the machines, and what the control knows once it has accepted the heartbeat. */
export interface MachineChanges {
  readonly machines: NonNullable<Heartbeat['machines']>
  readonly known: KnownMachines
  /** There are more changes than fit into one heartbeat. */
  readonly hasMore: boolean
}

/** The machines as the control knows them. */
export interface KnownMachines {
  readonly tag: string
  /** The records as text, by the ids of the machines. */
  readonly records: ReadonlyMap<string, string>
  /** The ETag of the list, when the service knows all of it. */
  readonly etag: string | undefined
}

/** About the most bytes of the records in one heartbeat. */
const maxLength = 1_000_000

/** The difference between the machines and those that the control knows; undefined when there is none. */
export const findMachineChanges = (
  list: PreparedBody,
  known: KnownMachines | undefined,
): MachineChanges | undefined => {
  if (known?.etag === list.etag) return undefined
  // The list of machines of this service is a list of records.
  const all = JSON.parse(list.text) as readonly HostMachine[]
  const records = new Map<string, string>()
  const changed: HostMachine[] = []
  let length = 0
  let hasMore = false
  for (const record of all) {
    const text = JSON.stringify(record)
    const before = known?.records.get(record.ID)
    const isSent = before !== text && length < maxLength
    if (isSent) {
      changed.push(record)
      length += Buffer.byteLength(text)
    }
    if (before !== text && !isSent) hasMore = true
    const after = isSent ? text : before
    if (after !== undefined) records.set(record.ID, after)
  }
  const tag = crypto.randomUUID()
  return {
    machines: { tag, ids: all.map(({ ID }) => ID), changed },
    known: { tag, records, etag: hasMore ? undefined : list.etag },
    hasMore,
  }
}
