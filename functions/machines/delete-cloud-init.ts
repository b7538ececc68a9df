import { endpoint } from '#lib/http/endpoint.ts'
import { DeletionReply, confirmDeletion } from '#lib/calls/deletion-reply.ts'
import { hypervisorFaults, MachineReference } from '#lib/machines/schemas.ts'

export default endpoint({
  method: 'DELETE',
  path: '/v1/machines/{id}/cloud-init',
  summary: 'Delete what the cloud-init of a stopped machine is told',
  description:
    'Its CD-ROM with `user_data`, `ssh_keys`, `hostname` and `network_config` is gone at the next start. ' +
    'The guest keeps what cloud-init has configured.',
  access: { claims: ['UPDATE_VM'] },
  effect: 'change',
  acceptsWait: true,
  uses: ['machines'],
  params: MachineReference,
  faults: hypervisorFaults,
  reply: DeletionReply,
  status: 202,
}).handle(async ({ params, progress }, { machines }) => {
  await machines.deleteSeed(params.id, { progress })
  return confirmDeletion(`What the cloud-init of ${params.id} was told was deleted.`)
})
