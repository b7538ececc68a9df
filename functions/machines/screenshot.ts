import * as z from 'zod'
import { StreamReply } from '#lib/calls/stream-reply.ts'
import { endpoint } from '#lib/http/endpoint.ts'
import { hypervisorFaults, MachineReference } from '#lib/machines/schemas.ts'

export default endpoint({
  method: 'GET',
  path: '/v1/machines/{id}/screenshot',
  summary: 'Take a picture of the screen of a running machine',
  description:
    'The reply is a PNG. A caller without EXECUTE_COMMAND_VM may take pictures of the machines that they made.',
  access: { anyClaim: ['EXECUTE_COMMAND_VM', 'LIST_VM'] },
  effect: 'read',
  audited: [],
  uses: ['machines'],
  params: MachineReference,
  media: 'image/png',
  faults: ['conflict', ...hypervisorFaults],
  reply: z.string(),
}).handle(async ({ params, caller }, { machines }) => {
  const picture = await machines.takeScreenshot(params.id, caller)
  return new StreamReply('image/png', new Blob([new Uint8Array(picture)]).stream(), {
    'Content-Length': String(picture.length),
  })
})
