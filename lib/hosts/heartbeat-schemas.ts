import * as z from 'zod'
import { HostReport } from './schemas.ts'

/** Seconds between two heartbeats of a host. */
export const heartbeatInterval = 15
/** Seconds without a heartbeat after which a host counts as unreachable. */
export const unreachableAfter = 45
/** The most bytes of a heartbeat. A host sends what does not fit with the next one. */
export const maxHeartbeatBytes = 4 * 1024 * 1024

/** The types of events that a control has of its hosts: of machines, and of the cache. */
export const relayedEventTypes = ['pdfm', 'catalog_cache'] as const

const Cursor = z
  .string()
  .regex(/^[0-9a-f]{8}-\d{1,15}$/, 'must be a cursor of the event log')
  .meta({ description: 'Position in the event log of the host' })

/** The record of a machine. Only what the service itself uses is checked, because hosts have other versions than it. */
export const HostMachine = z.looseObject({
  ID: z.uuid().meta({ description: 'UUID of the machine' }),
  Name: z.string().max(256).meta({ description: 'Name of the machine' }),
})
export type HostMachine = z.infer<typeof HostMachine>

/** An event about a machine or about the cache of packs, as it is in the log of its host. */
const HostEvent = z.object({
  id: z.string().regex(/^[0-9a-f]{1,128}$/, 'must be the id of an event'),
  event_type: z.enum(relayedEventTypes),
  timestamp: z.iso.datetime({ offset: true }),
  message: z.string().regex(/^[A-Z_]{1,64}$/, 'must be the name of an event'),
  body: z.record(z.string(), z.unknown()).optional(),
})
export type HostEvent = z.infer<typeof HostEvent>

/** The most WebSockets that a host reports. It has no more for all users together. */
const maxConnections = 10_000

export const Heartbeat = HostReport.extend({
  nonce: z.uuid().optional().meta({ description: 'Names this run of the host in assertions that are for it' }),
  connections: z
    .array(z.uuid())
    .max(maxConnections)
    .optional()
    .meta({ description: 'Ids of the assertions under which WebSockets to its machines are open' }),
  machines: z
    .object({
      tag: z.string().max(64).meta({ description: 'Names this state of the machines' }),
      ids: z.array(z.uuid()).max(20_000).meta({ description: 'All machines of the host' }),
      changed: z
        .array(HostMachine)
        .max(1_000)
        .meta({ description: 'Machines that the service does not know like this' }),
    })
    .optional()
    .meta({ description: 'Left out when the machines are as the service knows them' }),
  events: z
    .object({
      after: Cursor,
      replaces: Cursor.optional().meta({
        description: 'The cursor that the service has, if the host has no events after it any more',
      }),
      next: Cursor.meta({ description: 'Position after these events' }),
      entries: z.array(HostEvent).max(1_000).meta({ description: 'The events between after and next' }),
    })
    .optional()
    .meta({ description: 'Left out when there are no new events' }),
})
export type Heartbeat = z.infer<typeof Heartbeat>

/** What the service has of a host now. The host goes on from there. */
export const HeartbeatReply = z
  .object({
    cursor: Cursor.optional(),
    machines_tag: z.string().optional().meta({ description: 'The state of the machines that the service knows' }),
    interval: z.int().min(1).max(3_600).meta({ description: 'Seconds until the next heartbeat' }),
  })
  .meta({ id: 'HeartbeatReply' })
export type HeartbeatReply = z.infer<typeof HeartbeatReply>

/** The header with the key of a host. */
export const hostKeyHeader = 'x-host-key'
