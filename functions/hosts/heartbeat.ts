import { Heartbeat, HeartbeatReply, hostKeyHeader, maxHeartbeatBytes } from '#lib/hosts/heartbeat-schemas.ts'
import { HostReference } from '#lib/hosts/schemas.ts'
import { endpoint } from '#lib/http/endpoint.ts'

export default endpoint({
  method: 'PUT',
  path: '/v1/hosts/{id}/heartbeat',
  summary: 'Report the state of a host, its machines and their events',
  description:
    'Hosts call this, with their key as `X-Host-Key`. The reply says what the service has stored of the host; the next heartbeat goes on from there.',
  access: 'public',
  effect: 'change',
  routine: true,
  uses: ['hosts'],
  params: HostReference,
  // A heartbeat is large, and strangers must not have it read.
  admit: ({ params, header }, { hosts }) => hosts.admit(params.id, header(hostKeyHeader)),
  body: Heartbeat,
  bodyLimit: maxHeartbeatBytes,
  faults: ['unauthenticated', 'conflict', 'no-space'],
  reply: HeartbeatReply,
}).handle((context, { hosts }) => hosts.heartbeat(context.params.id, context.header(hostKeyHeader), context.body))
