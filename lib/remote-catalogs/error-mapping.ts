import * as z from 'zod'
import { type Fault, ServiceError } from '#lib/errors.ts'
import type { OutgoingReply } from '#lib/platform/outgoing-request.ts'
import { parseReply } from './parse-reply.ts'
import { mask, type RemoteServer } from './server.ts'

const OptionalText = z.string().optional()
const RefusalBody = z
  .object({ message: OptionalText, error: OptionalText, error_description: OptionalText })
  .catch(() => ({}))

const maxTextLength = 1_000

/** Reads the texts of a refusal, in one of the formats of such services. Masks secrets that the service may have repeated. */
const parseRefusal = (reply: OutgoingReply, secrets: readonly string[]): z.infer<typeof RefusalBody> => {
  let json: unknown
  try {
    json = parseReply(reply)
  } catch {
    // The page of a proxy: its status says enough.
  }
  const maskText = (text: string | undefined): string | undefined =>
    text && secrets.reduce((masked, secret) => masked.replaceAll(secret, mask), text).slice(0, maxTextLength)
  const { message, error, error_description } = RefusalBody.parse(json)
  return { message: maskText(message), error: maskText(error), error_description: maskText(error_description) }
}

/** The faults of statuses that are about the caller's request. Any other status below 500 counts as 400 (RFC 9110, 15). */
const faultByStatus: Readonly<Record<number, Fault>> = {
  403: 'forbidden',
  404: 'not-found',
  405: 'method-not-allowed',
  409: 'conflict',
  410: 'not-found',
  412: 'precondition-failed',
  413: 'too-large',
  429: 'locked-out',
}

/** The faults of a call that asks a remote service. */
export const remoteFaults: readonly Fault[] = ['upstream', 'timeout', ...new Set(Object.values(faultByStatus))]

/** Whether a status is about the caller's request, and not about the credentials of this service. */
const isCallerError = (status: number): boolean => status >= 400 && status < 500 && status !== 401 && status !== 407

export const isSuccess = ({ status }: OutgoingReply): boolean => status >= 200 && status < 300

/** Formats the message for a reply that is not a success. It has none of the `secrets`. */
export const formatFailure = (server: RemoteServer, reply: OutgoingReply, secrets: readonly string[]): string => {
  const { message, error_description, error } = parseRefusal(reply, secrets)
  const reason = message ?? error_description ?? error
  if (reply.status === 401) return `The catalog of ${server.name} refuses the credentials that are stored for it.`
  if (reply.status >= 300 && reply.status < 400)
    return `The catalog of ${server.name} redirects to another URL (${reply.status}). Redirects are not followed: give the final URL.`
  return `The catalog of ${server.name} answered ${reply.status}${reason ? `: ${reason}` : ''}.`
}

/** Converts a refusal of the remote service to an error: the same fault if it is about the caller's request, else `upstream`. */
export const toRefusal = (server: RemoteServer, reply: OutgoingReply, secrets: readonly string[]): ServiceError => {
  const failure = formatFailure(server, reply, secrets)
  if (!isCallerError(reply.status)) return new ServiceError('upstream', failure)
  const { message, error, error_description } = parseRefusal(reply, secrets)
  const { 'retry-after': retryAfter, allow } = reply.headers
  return new ServiceError(faultByStatus[reply.status] ?? 'invalid', message ?? failure, {
    headers: { ...(retryAfter && { 'Retry-After': retryAfter }), ...(allow && { Allow: allow }) },
    // Set even if undefined: the OAuth members that this service adds by itself are about its own sign-in.
    extra: { error, error_description },
  })
}
