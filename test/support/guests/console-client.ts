import { once } from 'node:events'
import { WebSocket } from 'ws'

/** A console of a machine as a client sees it. */
export interface ConsoleClient {
  readonly socket: WebSocket
  /** The bytes so far, as text. */
  output(): string
  /** The number of bytes so far. */
  size(): number
  /** The JSON messages so far. */
  readonly messages: readonly unknown[]
  /** Resolves to the code and the reason with which the connection has closed. */
  readonly closed: Promise<{ readonly code: number; readonly reason: string }>
}

/** Opens a WebSocket to a console. Rejects with the status of a refusal. */
export const openConsoleSocket = async (
  url: string,
  options: ConstructorParameters<typeof WebSocket>[2],
): Promise<ConsoleClient> => {
  const socket = new WebSocket(url, options)
  const received: Buffer[] = []
  const messages: unknown[] = []
  let size = 0
  socket.on('message', (data: Buffer, isBinary: boolean) => {
    if (isBinary) {
      received.push(data)
      size += data.length
    } else messages.push(JSON.parse(data.toString()))
  })
  const closed = once(socket, 'close').then(([code, reason]) => ({ code: Number(code), reason: String(reason) }))
  await new Promise<void>((resolve, reject) => {
    socket.once('open', resolve)
    socket.once('unexpected-response', (_, { statusCode }) => reject(new Error(`status ${statusCode}`)))
    socket.once('error', reject)
  })
  return { socket, size: () => size, output: () => Buffer.concat(received).toString('latin1'), messages, closed }
}
