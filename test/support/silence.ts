import { connect, createServer, type AddressInfo } from 'node:net'

/** Waits until so many connections, one after the other, on which nothing comes or goes were given up after `idle` milliseconds. */
export const outlastIdle = async (idle: number, times = 1): Promise<void> => {
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise(resolve => server.once('listening', resolve))
  for (let at = 0; at < times; at += 1) {
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
    await new Promise(resolve => socket.setTimeout(idle).once('timeout', resolve))
    socket.destroy()
  }
  server.close()
}
