import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

interface CuttingRelay extends AsyncDisposable {
  readonly url: string
  /** Ends all connections, and every new one at once. */
  cut(): void
  /** Passes on new connections again. */
  mend(): void
}

/** Passes connections on to a server of this host, unless they are cut. */
export const startCuttingRelay = async (port: number): Promise<CuttingRelay> => {
  const sockets = new Set<Socket>()
  let isCut = false
  const server = createServer(client => {
    if (isCut) return void client.destroy()
    const upstream = connect(port, '127.0.0.1')
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(socket)
      socket.on('error', () => other.destroy())
      socket.on('close', () => {
        sockets.delete(socket)
        other.destroy()
      })
      socket.pipe(other)
    }
  })
  await new Promise<void>(listening => server.listen(0, '127.0.0.1', listening))
  const destroyAll = (): void => {
    for (const socket of sockets) socket.destroy()
  }
  return {
    // A server that listens on a port has an address.
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    cut() {
      isCut = true
      destroyAll()
    },
    mend: () => void (isCut = false),
    async [Symbol.asyncDispose]() {
      destroyAll()
      await new Promise(closed => server.close(closed))
    },
  }
}
