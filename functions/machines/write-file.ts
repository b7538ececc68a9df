import { endpoint } from '#lib/http/endpoint.ts'
import { parseDigest } from '#lib/machines/guest/digest-header.ts'
import { WriteFileQuery, WrittenFile } from '#lib/machines/guest/file-schemas.ts'
import { hypervisorFaults, MachineReference } from '#lib/machines/schemas.ts'

export default endpoint({
  method: 'PUT',
  path: '/v1/machines/{id}/files',
  summary: 'Write a file of a running machine, by its guest agent',
  description:
    'The body is the file, of at most 1 GiB. The guest has the whole file or none of it; a link in its place is replaced. With Repr-Digest: sha-256=:BASE64: (RFC 9530) the file is written only if it has this SHA-256.',
  access: { anyClaim: ['EXECUTE_COMMAND_VM', 'LIST_VM'] },
  effect: 'change',
  audited: ['path'],
  uses: ['machines'],
  params: MachineReference,
  query: WriteFileQuery,
  bodyMedia: 'application/octet-stream',
  faults: ['too-large', 'forbidden', ...hypervisorFaults],
  reply: WrittenFile,
}).handle((context, { machines }) => {
  const { caller, params, query, signal, reauthenticate } = context
  const sha256 = parseDigest(context.header('repr-digest'))
  const file = { ...query, content: context.bodyStream(), sha256 }
  return machines.writeFile(params.id, caller, file, { signal, reauthenticate })
})
