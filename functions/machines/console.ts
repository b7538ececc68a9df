import * as z from 'zod'
import { StreamReply } from '#lib/calls/stream-reply.ts'
import { Upgrade } from '#lib/calls/upgrade.ts'
import { endpoint } from '#lib/http/endpoint.ts'
import { ConsoleQuery, isForText } from '#lib/machines/console/schemas.ts'
import { MachineReference } from '#lib/machines/schemas.ts'

export default endpoint({
  method: 'GET',
  path: '/v1/machines/{id}/console',
  summary: 'Read and write the serial console of a machine over a WebSocket, or read it as text',
  description:
    'Binary messages are bytes of the serial line, in both directions; text messages are JSON about them. ' +
    'A client that returns continues at its offset. Many can read; one connection writes. ' +
    'A caller without EXECUTE_COMMAND_VM may open the consoles of the machines that they made. The console ends when the caller loses the right to it.',
  access: { anyClaim: ['EXECUTE_COMMAND_VM', 'LIST_VM'] },
  effect: 'change',
  uses: ['machines', 'tunnels'],
  params: MachineReference,
  query: ConsoleQuery,
  audited: ['writer'],
  tokenInQuery: true,
  media: 'websocket',
  textFor: isForText,
  reply: z.string(),
}).handle(async ({ params: { id }, query, caller, reauthenticate }, { machines, tunnels }) => {
  if (isForText(query)) {
    const { offset, end, stream } = await machines.readConsole(id, caller, query, reauthenticate)
    return new StreamReply('text/plain; charset=utf-8', stream, {
      'X-Console-Offset': String(offset),
      'X-Console-End': String(end),
    })
  }
  const authorize = (user: typeof caller) => machines.assertMayEnter(id, user)
  const connect = () => machines.openConsole(id, caller, query)
  return new Upgrade(await tunnels.admit({ caller, reauthenticate, authorize, connect }))
})
