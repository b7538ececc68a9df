import * as z from 'zod'
import { type Fault, ServiceError } from '#lib/errors.ts'
import type { OutgoingReply } from '#lib/platform/outgoing.ts'
import { parseReply } from './parse-reply.ts'
import { mask, type RemoteServer } from './server.ts'

const Said = z.string().optional()
const Refusal = z.object({ message: Said, error: Said, error_description: Said }).catch(() => ({}))

const longest = 1_000

/** What a service says of its refusal, in one of the shapes of the field, without a secret that it may have repeated. */
const parseRefusal = (reply: OutgoingReply, secrets: readonly string[]): z.infer<typeof Refusal> => {
  let json: unknown
  try {
    json = parseReply(reply)
  } catch {
    // A page of some proxy: its status says enough.
  }
  const safe = (text: string | undefined): string | undefined =>
    text && secrets.reduce((left, secret) => left.replaceAll(secret, mask), text).slice(0, longest)
  const { message, error, error_description } = Refusal.parse(json)
  return { message: safe(message), error: safe(error), error_description: safe(error_description) }
}

/** The refusals that are about what the caller asked for. What else is below 500 counts as 400 (RFC 9110, 15). */
const faults: Readonly<Record<number, Fault>> = {
  403: 'forbidden',
  404: 'not-found',
  405: 'method-not-allowed',
  409: 'conflict',
  410: 'not-found',
  412: 'precondition-failed',
  413: 'too-large',
  429: 'locked-out',
}

/** What a call that asks a remote service can end with. */
export const remoteFaults: readonly Fault[] = ['upstream', 'timeout', ...new Set(Object.values(faults))]

const isCallerError = (status: number): boolean => status >= 400 && status < 500 && status !== 401 && status !== 407

/** Whether a reply says that the request was done. */
export const isSuccess = ({ status }: OutgoingReply): boolean => status >= 200 && status < 300

/** What a reply says that is not a success, in one sentence. `secrets` are left out of it. */
export const formatFailure = (server: RemoteServer, reply: OutgoingReply, secrets: readonly string[]): string => {
  const { message, error_description, error } = parseRefusal(reply, secrets)
  const words = message ?? error_description ?? error
  if (reply.status === 401) return `The catalog of ${server.name} refuses the credentials that are kept for it.`
  if (reply.status >= 300 && reply.status < 400)
    return `The catalog of ${server.name} sends elsewhere (${reply.status}), which is not followed: give the url that it has.`
  return `The catalog of ${server.name} answered ${reply.status}${words ? `: ${words}` : ''}.`
}

/** The refusal that a caller gets for one of the remote service: its own where it is about what they asked for. */
export const toRefusal = (server: RemoteServer, reply: OutgoingReply, secrets: readonly string[]): ServiceError => {
  const text = formatFailure(server, reply, secrets)
  if (!isCallerError(reply.status)) return new ServiceError('upstream', text)
  const { message, error, error_description } = parseRefusal(reply, secrets)
  const { 'retry-after': wait, allow } = reply.headers
  return new ServiceError(faults[reply.status] ?? 'invalid', message ?? text, {
    headers: { ...(wait && { 'Retry-After': wait }), ...(allow && { Allow: allow }) },
    // Theirs or none: what the service itself would say of this status is about its own sign-in.
    extra: { error, error_description },
  })
}
