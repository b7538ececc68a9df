/** The floor of the event rows: ws and nothing else. What is posted to it is sent to every WebSocket. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { WebSocketServer } from 'ws'

const server = createServer(async (request, response) => {
  const frame = await text(request)
  for (const client of sockets.clients) client.send(frame)
  response.end()
})
const sockets = new WebSocketServer({ server, perMessageDeflate: false })
server.listen(0, '127.0.0.1', () => process.stdout.write(`bare serves ${(server.address() as AddressInfo).port}\n`))
