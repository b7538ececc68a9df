import * as z from 'zod'
import { ServiceError } from '#lib/errors.ts'
import type { SendOutgoing } from '#lib/platform/outgoing-request.ts'
import { toServiceUrl } from './service-url.ts'
import type { RemoteServer } from './server.ts'
import { parseReply } from './parse-reply.ts'

/**
 * Returns the token for a remote catalog: signs in once and caches the token until it expires. A caller passes the token that
 * the catalog has refused as `refusedToken`, and gets a new one. Throws `upstream` when the catalog refuses the sign-in, and
 * the errors of `SendOutgoing`.
 */
export type GetToken = (server: RemoteServer, refusedToken?: string) => Promise<string>

type SignInOutcome = { readonly token: string; readonly expiresAt: number } | { readonly refusal: ServiceError }

interface CachedSignIn {
  readonly outcome: Promise<SignInOutcome>
  /** Milliseconds since 1970. The next caller after this time signs in anew. */
  expiresAt: number
}

const SignInReply = z.object({
  token: z.string().min(1),
  expires_at: z.number().optional().catch(undefined),
})

/** A token is renewed so many milliseconds before it expires. */
const renewalMargin = 60_000
/** Milliseconds for which a token is cached when its expiry is unknown, or lies in the past because a clock is wrong. */
const defaultLifetime = 300_000
/** Milliseconds between a refused sign-in and the next attempt, because wrong passwords lock accounts. */
const refusalPause = 30_000
const maxReplyBytes = 64 * 1024

/** Creates the function that returns tokens. `signInTimeout` is in milliseconds. */
export const createTokenSource = (outgoing: SendOutgoing, signInTimeout: number): GetToken => {
  const signIn = async (server: RemoteServer): Promise<SignInOutcome> => {
    const reply = await outgoing({
      method: 'POST',
      url: toServiceUrl(server, '/auth/token'),
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ email: server.username, password: server.password }),
      signal: AbortSignal.timeout(signInTimeout),
      maxReplyBytes,
    })
    const refusal = new ServiceError(
      'upstream',
      `The catalog of ${server.name} does not let this service sign in: it answered ${reply.status}.`,
    )
    if (reply.status >= 400 && reply.status < 500) return { refusal }
    if (reply.status !== 200) throw refusal
    const parsed = SignInReply.safeParse(parseReply(reply))
    if (!parsed.success)
      throw new ServiceError('upstream', `The catalog of ${server.name} answered a sign-in without a token.`)
    const { token, expires_at: expirySeconds = 0 } = parsed.data
    const now = Date.now()
    const renewalTime = expirySeconds * 1000 - renewalMargin
    return { token, expiresAt: renewalTime > now ? renewalTime : now + defaultLifetime }
  }

  // Keyed by the stored document: a changed server is another document, so it signs in anew.
  const signIns = new WeakMap<RemoteServer, CachedSignIn>()
  const getSignIn = (server: RemoteServer): CachedSignIn => {
    const cached = signIns.get(server)
    if (cached && cached.expiresAt > Date.now()) return cached
    const started: CachedSignIn = { outcome: signIn(server), expiresAt: Infinity }
    signIns.set(server, started)
    started.outcome.then(
      outcome => (started.expiresAt = 'expiresAt' in outcome ? outcome.expiresAt : Date.now() + refusalPause),
      () => (started.expiresAt = 0),
    )
    return started
  }

  const getToken: GetToken = async (server, refusedToken) => {
    const current = getSignIn(server)
    const outcome = await current.outcome
    if ('refusal' in outcome) throw outcome.refusal
    if (outcome.token !== refusedToken) return outcome.token
    // Only the first of several concurrent callers removes the refused token; the others find the new sign-in.
    if (signIns.get(server) === current) signIns.delete(server)
    return getToken(server)
  }
  return getToken
}
