import * as z from 'zod'
import { Upgrade } from '#lib/calls/upgrade.ts'
import { endpoint } from '#lib/http/endpoint.ts'
import { ScreenQuery } from '#lib/machines/screen/schemas.ts'
import { hypervisorFaults, MachineReference } from '#lib/machines/schemas.ts'

export default endpoint({
  method: 'GET',
  path: '/v1/machines/{id}/screen',
  summary: 'See the screen of a running machine, and use its keyboard and pointer, over a WebSocket',
  description:
    'Binary messages are bytes of RFB (RFC 6143), the protocol of VNC, in both directions; a message of the client has at most 1 MiB. ' +
    'A caller without EXECUTE_COMMAND_VM may open the screens of the machines that they made. The screen closes when the machine stops, and when the caller loses the right to it.',
  access: { anyClaim: ['EXECUTE_COMMAND_VM', 'LIST_VM'] },
  effect: 'change',
  uses: ['machines', 'tunnels'],
  params: MachineReference,
  query: ScreenQuery,
  audited: ['view_only'],
  tokenInQuery: true,
  media: 'websocket',
  faults: [...hypervisorFaults, 'conflict'],
  reply: z.unknown(),
}).handle(async ({ params: { id }, query, caller, reauthenticate }, { machines, tunnels }) => {
  const authorize = (user: typeof caller) => machines.assertMayEnter(id, user)
  const connect = () => machines.openScreen(id, caller, query)
  return new Upgrade(await tunnels.admit({ caller, reauthenticate, authorize, connect }))
})
