import type { IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { WebSocket } from 'ws'
import { toRefusal } from './refusal.ts'
import { createUnreachableError, type ServiceTarget } from './service-target.ts'

/**
 * Opens a WebSocket at a path below `/api/v1` of a service. `onFailed` is called with the refusal of the service, and with
 * `unavailable` if the service cannot be reached.
 */
export const openWebSocket = (target: ServiceTarget, path: string, onFailed: (error: Error) => void): WebSocket => {
  const { url, headers, socketPath, tls } = target
  const socket = new WebSocket(`${url.replace(/^http/, 'ws')}/api/v1${path}`, {
    headers,
    perMessageDeflate: false,
    ...tls,
    // It is called with the host and port of the URL, which lead elsewhere.
    ...(socketPath !== undefined && { createConnection: () => connect(socketPath) }),
  })
  const onUnreachable = (error: unknown): void => onFailed(createUnreachableError(target, error))
  socket.on('error', onUnreachable)
  socket.once('unexpected-response', (request, response: IncomingMessage) => {
    text(response)
      .then(body => onFailed(toRefusal(response.statusCode ?? 0, body)), onUnreachable)
      .finally(() => request.destroy())
  })
  return socket
}
