import { request as httpRequest, type IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import { messageOf } from '#lib/errors.ts'
import { SystemHealth } from '#lib/health/health.ts'
import { isSystemError } from '#lib/platform/files.ts'
import { connectIn } from '#lib/platform/local-socket.ts'

/** Milliseconds within which a running service must reply. */
const replyTimeout = 10_000

/** Whether a service runs on a state folder: what one that answers says of itself, or why one that runs does not answer. */
export type ServiceState =
  | { readonly kind: 'running'; readonly health: SystemHealth; readonly get: (path: string) => Promise<string> }
  | { readonly kind: 'silent'; readonly reason: string }
  | { readonly kind: 'stopped' }

const getText = async (state: string, path: string): Promise<string> => {
  const response = await connectIn(state, 'vmhost.sock', socketPath => {
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
    const request = httpRequest({ socketPath, path, headers: { host: 'localhost' }, timeout: replyTimeout }, resolve)
    request.once('error', reject)
    request.once('timeout', () => request.destroy(new Error(`the service does not answer on ${socketPath}`)))
    request.end()
    return promise
  })
  const body = await text(response)
  if (response.statusCode !== 200) throw new Error(`GET ${path}: ${response.statusCode} ${body}`)
  return body
}

/**
 * Asks the service of a state folder how it is. `get` of one that is running returns the text of the reply to a GET as root, and
 * throws if the status is not 200. A service whose folder this user may not open counts as stopped.
 */
export const askService = async (state: string): Promise<ServiceState> => {
  try {
    const health = SystemHealth.parse(JSON.parse(await getText(state, '/api/v1/health/system')))
    return { kind: 'running', health, get: path => getText(state, path) }
  } catch (error) {
    if (['ENOENT', 'ECONNREFUSED', 'EACCES', 'ENOTDIR'].some(code => isSystemError(error, code)))
      return { kind: 'stopped' }
    return { kind: 'silent', reason: messageOf(error) }
  }
}
