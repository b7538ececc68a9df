import * as z from 'zod'
import { Upgrade } from '#lib/calls/upgrade.ts'
import { endpoint } from '#lib/http/endpoint.ts'
import { hypervisorFaults, MachineReference } from '#lib/machines/schemas.ts'

export default endpoint({
  method: 'GET',
  path: '/v1/machines/{id}/tunnel',
  summary: 'Connect to a TCP port of a running machine over a WebSocket',
  description:
    'Each binary message is bytes of the connection, in both directions; a message of the client has at most 1 MiB. No port of the host stays ' +
    'open for it. A caller without EXECUTE_COMMAND_VM may open one to the machines that they made. The tunnel ends when one side closes it, when the machine stops, and when the caller loses the right to it.',
  access: { anyClaim: ['EXECUTE_COMMAND_VM', 'LIST_VM'] },
  effect: 'change',
  uses: ['machines', 'tunnels'],
  params: MachineReference,
  query: z.object({
    port: z.coerce.number().int().min(1).max(65_535).meta({ description: 'TCP port of the guest' }),
  }),
  tokenInQuery: true,
  media: 'websocket',
  faults: [...hypervisorFaults, 'conflict'],
  reply: z.unknown(),
}).handle(async ({ params, query, caller, reauthenticate }, { machines, tunnels }) => {
  const authorize = (user: typeof caller) => machines.assertMayEnter(params.id, user)
  const connect = () => machines.connectToGuest(params.id, caller, query.port)
  return new Upgrade(await tunnels.admit({ caller, reauthenticate, authorize, connect }))
})
