import * as z from 'zod'
import { StreamReply } from '#lib/calls/stream-reply.ts'
import { endpoint } from '#lib/http/endpoint.ts'
import { formatDigest, wantsDigest } from '#lib/machines/guest/digest-header.ts'
import { ReadFileQuery } from '#lib/machines/guest/file-schemas.ts'
import { hypervisorFaults, MachineReference } from '#lib/machines/schemas.ts'

export default endpoint({
  method: 'GET',
  path: '/v1/machines/{id}/files',
  summary: 'Read a file of a running machine, by its guest agent',
  description:
    'A reply that ends before its Content-Length is not complete. With Want-Repr-Digest: sha-256=1 the file is read twice, and the reply has its SHA-256 as Repr-Digest (RFC 9530).',
  access: { anyClaim: ['EXECUTE_COMMAND_VM', 'LIST_VM'] },
  effect: 'read',
  audited: ['path'],
  uses: ['machines'],
  params: MachineReference,
  query: ReadFileQuery,
  media: '*/*',
  faults: ['forbidden', 'conflict', ...hypervisorFaults],
  reply: z.string(),
}).handle(async (context, { machines }) => {
  const { caller, params, query, signal } = context
  const withDigest = wantsDigest(context.header('want-repr-digest'))
  const { size, sha256, stream } = await machines.readFile(params.id, caller, query.path, { withDigest, signal })
  return new StreamReply('application/octet-stream', stream, {
    ...(size !== undefined && { 'Content-Length': String(size) }),
    ...(sha256 && { 'Repr-Digest': formatDigest(sha256) }),
  })
})
