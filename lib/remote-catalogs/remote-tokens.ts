import * as z from 'zod'
import { ServiceError } from '#lib/errors.ts'
import type { Outgoing } from '#lib/platform/outgoing.ts'
import { toServiceUrl } from './service-url.ts'
import type { RemoteServer } from './server.ts'
import { parseReply } from './parse-reply.ts'

/**
 * Gives the token for a remote catalog. It signs in once and caches the token until it expires. `refusedToken` is a token
 * that the catalog does not accept any more. Throws `upstream` when the sign-in is refused, and what sending throws.
 */
export type GetToken = (server: RemoteServer, refusedToken?: string) => Promise<string>

type SignInOutcome = { readonly token: string; readonly expiresAt: number } | { readonly refusal: ServiceError }

interface CachedSignIn {
  readonly outcome: Promise<SignInOutcome>
  /** Milliseconds since 1970. */
  expiresAt: number
}

const SignInReply = z.object({
  token: z.string().min(1),
  expires_at: z.number().optional().catch(undefined),
})

/** Milliseconds before its expiry at which a token is renewed. */
const renewalMargin = 60_000
/** Milliseconds for which a token is cached whose expiry is unknown, or in the past because a clock is wrong. */
const defaultLifetime = 300_000
/** Milliseconds without another attempt after a refused sign-in, because wrong passwords lock accounts. */
const refusalPause = 30_000
const maxReplyBytes = 64 * 1024

/** Makes a source of tokens. `signInTimeout` is in milliseconds. */
export const createTokenSource = (outgoing: Outgoing, signInTimeout: number): GetToken => {
  const signIn = async (server: RemoteServer): Promise<SignInOutcome> => {
    const reply = await outgoing({
      method: 'POST',
      url: toServiceUrl(server, '/auth/token'),
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ email: server.username, password: server.password }),
      signal: AbortSignal.timeout(signInTimeout),
      most: maxReplyBytes,
    })
    const refusal = new ServiceError(
      'upstream',
      `The catalog of ${server.name} does not let this service sign in: it answered ${reply.status}.`,
    )
    if (reply.status >= 400 && reply.status < 500) return { refusal }
    if (reply.status !== 200) throw refusal
    const parsed = SignInReply.safeParse(parseReply(reply))
    if (!parsed.success)
      throw new ServiceError('upstream', `The catalog of ${server.name} answers a sign-in without a token.`)
    const { token, expires_at: expiry = 0 } = parsed.data
    const now = Date.now()
    const renewalTime = expiry * 1000 - renewalMargin
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
