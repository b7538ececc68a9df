import type { Duplex } from 'node:stream'
import { createWebSocketStream } from 'ws'
import { ServiceError } from '#lib/errors.ts'
import { openWebSocket } from './open-web-socket.ts'
import type { ServiceTarget } from './service-target.ts'

/** The codes of a WebSocket that was closed as intended: by the other side, or by this one without a code (RFC 6455, 7.4.1). */
const usualCodes: ReadonlySet<number> = new Set([1000, 1005])

/** A WebSocket as a stream of the bytes of its messages. */
interface ServiceStream {
  readonly stream: Duplex
  /**
   * Settles when the WebSocket has closed. Rejects with the refusal of the service, with `unavailable` if the service cannot be reached,
   * and with the reason if the service closes it for one.
   */
  readonly closed: Promise<void>
}

/** Opens a WebSocket at a path below `/api/v1` of a service. What is written before it is open waits. */
export const openStream = (target: ServiceTarget, path: string): ServiceStream => {
  const { promise: closed, resolve, reject } = Promise.withResolvers<void>()
  const socket = openWebSocket(target, path, reject)
  socket.once('close', (code, reason) => {
    if (usualCodes.has(code)) resolve()
    else reject(new ServiceError('upstream', String(reason) || `The connection to ${target.name} is lost.`))
  })
  // It listens from now on, because a guest may begin to speak in the moment in which the WebSocket opens.
  const stream = createWebSocketStream(socket)
  // `closed` tells the reason.
  stream.on('error', () => {})
  return { stream, closed }
}
