import { ServiceError } from '#lib/errors.ts'
import type { Principal } from '#lib/access/principal.ts'
import type { Identify, TokenBasis } from '../sign-in.ts'
import type { Tokens } from '../tokens.ts'
import type { Links } from './links.ts'
import type { Session } from './schemas.ts'

/** The part of a request that opens a session. */
export interface SessionRequest {
  readonly address: string
  readonly isFromConsole: boolean
  readonly setActor: (who: Pick<Principal, 'id' | 'username'>) => void
  readonly keepSession: (session: { readonly token: string; readonly expiresAt: number }) => void
}

/** Sessions of browsers. The token is in a cookie that scripts cannot read, and counts only together with the header of the console. */
export interface BrowserSessions {
  /**
   * Opens a session for an e-mail address or a user name with its password. Throws `forbidden` for a request without the header of the
   * console, and otherwise as a sign-in does.
   */
  open(name: string, password: string, request: SessionRequest): Promise<Session>
  /** Sets a password with a link (see `Links.use`) and opens a session. Throws as `open` and `Links.use` do. */
  openByLink(secret: string, password: string, request: SessionRequest): Promise<Session>
}

interface Options {
  readonly identify: Identify
  readonly links: Pick<Links, 'use'>
  readonly tokens: Pick<Tokens, 'issue'>
}

/** What a session tells of its user. */
export const toSession = ({ id, username, email, superUser, roles, claims }: Principal): Session => ({
  user_id: id,
  username,
  email,
  super_user: superUser,
  roles: [...roles],
  claims: [...claims].toSorted(),
})

/** A page of another site can have a browser send a form, and so sign its user in as somebody else. It cannot set a header. */
const requireConsole = ({ isFromConsole }: SessionRequest): void => {
  if (!isFromConsole)
    throw new ServiceError(
      'forbidden',
      'Sessions with a cookie are for the web console, which sends the header X-VMHost-Console: 1. Programs use POST /api/v1/auth/token.',
    )
}

export const createBrowserSessions = ({ identify, links, tokens }: Options): BrowserSessions => {
  const start = async (principal: Principal, basis: TokenBasis, { keepSession }: SessionRequest): Promise<Session> => {
    const { id: uid, email, username } = principal
    // The rights are looked up on each request. In the token they would make it too long for a cookie.
    keepSession(await tokens.issue({ uid, email, username, roles: [], claims: [], ...basis }))
    return toSession(principal)
  }
  return {
    async open(name, password, request) {
      requireConsole(request)
      const { principal, basis } = await identify({ username: name, password }, request.address, request.setActor)
      return start(principal, basis, request)
    },
    async openByLink(secret, password, request) {
      requireConsole(request)
      const { principal, basis } = await links.use(secret, password)
      request.setActor(principal)
      return start(principal, basis, request)
    },
  }
}
