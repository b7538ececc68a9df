import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A server on the host that counts the connections it gets, and answers each HTTP request with `host`. */
export interface CountingServer extends AsyncDisposable {
  readonly port: number
  connections(): number
}

export const openCountingServer = async (address: string): Promise<CountingServer> => {
  let connections = 0
  const server = createServer((_, reply) => reply.end('host'))
  server.on('connection', () => (connections += 1))
  server.listen(0, address)
  await once(server, 'listening')
  return {
    // A server that listens on a host and a port has an address of this kind.
    port: (server.address() as AddressInfo).port,
    connections: () => connections,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise(resolve => server.close(resolve))
    },
  }
}
