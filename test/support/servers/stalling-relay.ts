import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

interface StallingRelay extends AsyncDisposable {
  /** Host and port. */
  readonly address: string
  /** Resolves when the request has come that is held. */
  readonly stalled: Promise<void>
  /** Passes on what is held. */
  release(): void
}

/** Passes connections on to a server, until a request begins like this: it is held, and so is what comes after it. */
export const startStallingRelay = async (endpoint: string, request: RegExp): Promise<StallingRelay> => {
  const [host = '', port = ''] = endpoint.split(':')
  const { promise: stalled, resolve } = Promise.withResolvers<void>()
  const sockets = new Set<Socket>()
  const held: (() => void)[] = []
  let isReleased = false
  const server = createServer(client => {
    const upstream = connect(Number(port), host)
    let isStalled = false
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(socket)
      socket.on('error', () => other.destroy())
      socket.on('close', () => other.destroy())
    }
    upstream.on('data', bytes => client.write(bytes))
    client.on('data', bytes => {
      isStalled ||= request.test(bytes.toString('latin1'))
      if (!isStalled || isReleased) return void upstream.write(bytes)
      held.push(() => upstream.write(bytes))
      resolve()
    })
  })
  await new Promise<void>(listening => server.listen(0, '127.0.0.1', listening))
  const { port: own } = server.address() as AddressInfo
  return {
    address: `127.0.0.1:${own}`,
    stalled,
    release() {
      isReleased = true
      for (const pass of held.splice(0)) pass()
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      await new Promise(closed => server.close(closed))
    },
  }
}
