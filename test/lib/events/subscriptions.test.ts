import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import { every } from '#lib/async/every.ts'
import { createInProcessGateway } from '#lib/events/in-process.ts'
import { createSubscriptions } from '#lib/events/subscriptions.ts'
import { acceptWebSockets } from '#lib/platform/web-sockets.ts'
import { createMemoryStore } from '#lib/storage/memory-store.ts'
import { type SubscriptionPlace, subscriptionContract } from '../../contracts/subscriptions.ts'
import { openSubscriptionHost } from '../../support/subscription-host.ts'

const open = async (): Promise<SubscriptionPlace> => {
  const { handle, subscriptions } = await openSubscriptionHost(await createMemoryStore(), every, parts =>
    createSubscriptions({ ...parts, gateway: createInProcessGateway(parts.hub) }),
  )
  // Only upgrades are answered with something else.
  const server = createServer(getRequestListener(request => handle(request) as Promise<Response>))
  acceptWebSockets(server, handle)
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return {
    // A server on a port has an address of this kind.
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    runTimers: async () => undefined,
    async [Symbol.asyncDispose]() {
      await subscriptions[Symbol.asyncDispose]()
      server.closeAllConnections()
      await new Promise(resolve => server.close(resolve))
    },
  }
}

subscriptionContract('in a process', open)
