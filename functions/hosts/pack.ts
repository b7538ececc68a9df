import { RangeReply } from '#lib/calls/range-reply.ts'
import { hostKeyHeader } from '#lib/hosts/heartbeat-schemas.ts'
import { HostPackReference, PackQuery } from '#lib/hosts/schemas.ts'
import { endpoint } from '#lib/http/endpoint.ts'
import { remoteFaults } from '#lib/remote-catalogs/error-mapping.ts'
import * as z from 'zod'

export default endpoint({
  method: 'GET',
  path: '/v1/hosts/{id}/packs/{job}',
  summary: 'Send the pack that a host pulls through a catalog manager (Range)',
  description:
    'Hosts call this, with their key as `X-Host-Key`, while the job runs. So the credentials of the manager stay with this service.',
  access: 'public',
  effect: 'read',
  uses: ['hosts', 'servedPacks'],
  params: HostPackReference,
  admit: ({ params, header }, { hosts }) => hosts.admit(params.id, header(hostKeyHeader)),
  query: PackQuery,
  media: 'application/octet-stream',
  faults: ['unauthenticated', ...remoteFaults],
  reply: z.never(),
}).handle(async ({ params, query, signal }, { servedPacks }) => {
  const { content, sha256 } = query
  const part = { content, ...(sha256 !== undefined && { sha256 }) }
  return new RangeReply(await servedPacks.open(params.job, params.id, part, signal))
})
