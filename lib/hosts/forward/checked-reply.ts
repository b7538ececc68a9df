import { ServiceError } from '#lib/errors.ts'
import type { Route } from '#lib/http/endpoint.ts'
import type { StoredHost } from '../stored-host.ts'
import type { HostAnswer } from './every-host.ts'
import { findMistake } from './find-mistake.ts'

/** Gives the body of a successful reply of a host if it is what the route replies with. Throws `upstream` otherwise. */
export type CheckReply = (route: Route, host: StoredHost, body: unknown) => unknown

/**
 * Creates the check of replies. A host of another version than this service may lack members, because the control is updated before
 * its hosts.
 */
export const createCheckReply =
  (version: string): CheckReply =>
  ({ id, endpoint: { reply } }, host, body) => {
    const mistake = findMistake(reply, body, { mayLack: host.report?.version !== version })
    if (!mistake) return body
    const where = mistake.path.length > 0 ? `its member ${mistake.path.join('.').slice(0, 200)}` : 'it'
    throw new ServiceError(
      'upstream',
      `The reply of the host ${host.name} is not one of ${id.replace('/', '.')}: ${where} ${mistake.message}. Compare the versions of both services.`,
    )
  }

/** The answer of a host with a body that has passed the check, or with the reason why it has not. */
export const checkAnswer = (check: CheckReply, route: Route, answer: HostAnswer): HostAnswer => {
  if ('error' in answer) return answer
  const { host, body } = answer
  try {
    return { host, body: check(route, host, body) }
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    return { host, error }
  }
}
