import { toFault } from '#lib/calls/statuses.ts'
import { type Cause, type Fault, ServiceError } from '#lib/errors.ts'
import type { StoredHost } from '../stored-host.ts'
import type { HostReply } from './host-client.ts'

/** Members of an error body that `createErrorBody` writes itself. */
const ownMembers: ReadonlySet<string> = new Set(['code', 'message', 'stack', 'error', 'error_description'])

/** The most characters of a text of a host, the most causes, and the most characters of all other members together. */
const limits = { text: 2_000, causes: 100, extra: 16_000 } as const

/** A text of a host as this service may store and show it. */
export const cleanText = (text: string): string =>
  text
    .slice(0, limits.text)
    .replace(/\p{Cc}/gu, ' ')
    .toWellFormed()

const readMessage = ({ body, status }: HostReply): string => {
  const { message }: { message?: unknown } = Object(body)
  return typeof message === 'string' && message !== '' ? cleanText(message) : `it answered with the status ${status}`
}

const readCauses = ({ body }: HostReply): readonly Cause[] => {
  const { stack }: { stack?: unknown } = Object(body)
  if (!Array.isArray(stack)) return []
  return stack.slice(0, limits.causes).flatMap(item => {
    const { error, path }: { error?: unknown; path?: unknown } = Object(item)
    return typeof error === 'string'
      ? [{ error: cleanText(error), ...(typeof path === 'string' && { path: cleanText(path) }) }]
      : []
  })
}

const readExtra = ({ body }: HostReply): Readonly<Record<string, unknown>> => {
  const extra = Object.fromEntries(Object.entries(Object(body)).filter(([name]) => !ownMembers.has(name)))
  return JSON.stringify(extra).length > limits.extra ? {} : extra
}

/** Faults of the host itself. Their messages name it, because nobody else would. */
const hostFaults: ReadonlySet<Fault> = new Set(['internal', 'upstream', 'unavailable', 'timeout', 'no-space'])

/** A fault of a host, with a message that names the host if nobody else would. */
export const toHostError = (
  host: StoredHost,
  fault: Fault,
  message: string,
  details?: ConstructorParameters<typeof ServiceError>[2],
): ServiceError =>
  new ServiceError(
    fault === 'internal' ? 'upstream' : fault,
    hostFaults.has(fault) ? `On the host ${host.name}: ${message}` : message,
    details,
  )

/**
 * The refusal of a host as a refusal of this service. The caller made no mistake if the host does not trust this service, or fails.
 */
export const toHostRefusal = (host: StoredHost, reply: HostReply): ServiceError => {
  const message = readMessage(reply)
  if (reply.status === 401)
    return new ServiceError(
      'upstream',
      `The host ${host.name} does not trust this service: ${message} Its setting trusted_issuers must have the issuer and the keys of this service, and the audience ${host.id}.`,
    )
  if (reply.status < 400)
    return new ServiceError('upstream', `The host ${host.name} does not answer as vmhost does: ${message}.`)
  const retryAfter = reply.headers.get('retry-after')
  return toHostError(host, toFault(reply.status), message, {
    stack: readCauses(reply),
    extra: readExtra(reply),
    ...(retryAfter !== null && /^\d{1,5}$/.test(retryAfter) && { headers: { 'Retry-After': retryAfter } }),
  })
}

/** The body of a successful reply. Throws the refusal of any other. */
export const unwrapReply = (host: StoredHost, reply: HostReply): unknown => {
  if (reply.status < 200 || reply.status > 299) throw toHostRefusal(host, reply)
  return reply.body
}
