import { randomBytes } from 'node:crypto'
import type { Credential } from '#lib/access/credential.ts'
import type { Principal } from '#lib/access/principal.ts'
import type { RedeemTicket, SessionReference, SessionReferences } from '#lib/access/session-reference.ts'
import { formatTicketTarget } from '#lib/access/ticket-target.ts'
import { ServiceError } from '#lib/errors.ts'
import type { IssuedTicket } from './schemas.ts'

/**
 * Tickets for WebSockets. A browser cannot set headers of a WebSocket, and an address ends in histories and in logs of proxies. So the
 * address has a ticket in place of the token: it is for one WebSocket, once, and soon. The tickets are in memory alone.
 */
export interface Tickets {
  /**
   * Issues a ticket for the session of a credential. `path` is that of the WebSocket with its query. Throws `unauthenticated` for a
   * credential that has no session, and `unavailable` at the limits.
   */
  issue(credential: Credential, caller: Pick<Principal, 'id'>, path: string): Promise<IssuedTicket>
  readonly redeem: RedeemTicket
}

interface Ticket {
  readonly userId: string
  readonly session: SessionReference
  readonly target: string
  /** Milliseconds since 1970. */
  readonly expiresAt: number
}

/** Milliseconds that a ticket can be used. */
const lifetime = 30_000
/** The most unused tickets of one user, and in all. */
const limits = { user: 100, all: 10_000 } as const

const createRefusal = (): ServiceError =>
  new ServiceError(
    'unauthenticated',
    'This ticket is not valid: it was used, it is older than 30 seconds, or it is for another path. Ask for a new one.',
    { headers: { 'WWW-Authenticate': 'Bearer error="invalid_token"' } },
  )

export const createTickets = (sessions: Pick<SessionReferences, 'refer'>): Tickets => {
  /** In the order in which they expire. */
  const tickets = new Map<string, Ticket>()

  const removeExpired = (): void => {
    for (const [ticket, { expiresAt }] of tickets) {
      if (expiresAt > Date.now()) return
      tickets.delete(ticket)
    }
  }
  const assertRoom = (userId: string): void => {
    const own = tickets.values().filter(ticket => ticket.userId === userId)
    if (tickets.size < limits.all && [...own].length < limits.user) return
    throw new ServiceError(
      'unavailable',
      `There are too many unused tickets: one user can have ${limits.user}, all users together ${limits.all}. Use them, or try again in 30 seconds.`,
    )
  }
  return {
    async issue(credential, { id: userId }, path) {
      const session = await sessions.refer(credential)
      removeExpired()
      assertRoom(userId)
      const { pathname, searchParams } = new URL(path, 'http://service')
      const ticket = randomBytes(32).toString('base64url')
      const expiresAt = Date.now() + lifetime
      tickets.set(ticket, { userId, session, target: formatTicketTarget(pathname, searchParams), expiresAt })
      return { ticket, expires_at: new Date(expiresAt).toISOString() }
    },
    redeem(ticket, target) {
      const found = tickets.get(ticket)
      // Whatever it was tried for, it is used.
      tickets.delete(ticket)
      if (!found || found.expiresAt <= Date.now() || found.target !== target) throw createRefusal()
      return found.session
    },
  }
}
