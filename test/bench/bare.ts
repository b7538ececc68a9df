/** The floor of the HTTP rows: node:http and nothing else. `/` is a small JSON reply, `/bytes/N` sends N bytes. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

const hello = JSON.stringify({ id: crypto.randomUUID(), status: 'running', ip_configured: '-' })
const bodies = new Map<string, Buffer>()

const server = createServer((request, response) => {
  const size = /^\/bytes\/(\d+)$/.exec(request.url ?? '')?.[1]
  let body: string | Buffer = hello
  if (size !== undefined) {
    body = bodies.get(size) ?? Buffer.alloc(Number(size), 'x')
    bodies.set(size, body)
  }
  response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) })
  response.end(body)
})
server.listen(0, '127.0.0.1', () => process.stdout.write(`bare serves ${(server.address() as AddressInfo).port}\n`))
