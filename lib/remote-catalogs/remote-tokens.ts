import * as z from 'zod'
import { ServiceError } from '#lib/errors.ts'
import type { Outgoing } from '#lib/platform/outgoing.ts'
import { toServiceUrl } from './service-url.ts'
import type { RemoteServer } from './server.ts'
import { parseReply } from './parse-reply.ts'

/**
 * The token that a remote catalog takes from this service: asked for once, kept until it ends. `refused` is one that it
 * does not take any more. Throws `upstream` when the sign-in is refused, and what sending throws.
 */
export type GetToken = (server: RemoteServer, refused?: string) => Promise<string>

type Outcome = { readonly token: string; readonly until: number } | { readonly refusal: ServiceError }

interface Entry {
  readonly outcome: Promise<Outcome>
  /** Milliseconds since 1970. */
  until: number
}

const Reply = z.object({
  token: z.string().min(1),
  expires_at: z.number().optional().catch(undefined),
})

/** A token is renewed so many milliseconds before its end. */
const early = 60_000
/** How long one is kept that does not say its end, or is of a host whose clock is wrong. */
const usual = 300_000
/** How long a sign-in that was refused is not tried again: wrong passwords lock accounts. */
const pause = 30_000
const mostBytes = 64 * 1024

/** `limit`: milliseconds that a sign-in may take. */
export const createTokenSource = (outgoing: Outgoing, limit: number): GetToken => {
  const signIn = async (server: RemoteServer): Promise<Outcome> => {
    const reply = await outgoing({
      method: 'POST',
      url: toServiceUrl(server, '/auth/token'),
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ email: server.username, password: server.password }),
      signal: AbortSignal.timeout(limit),
      most: mostBytes,
    })
    const refusal = new ServiceError(
      'upstream',
      `The catalog of ${server.name} does not let this service sign in: it answered ${reply.status}.`,
    )
    if (reply.status >= 400 && reply.status < 500) return { refusal }
    if (reply.status !== 200) throw refusal
    const parsed = Reply.safeParse(parseReply(reply))
    if (!parsed.success)
      throw new ServiceError('upstream', `The catalog of ${server.name} answers a sign-in without a token.`)
    const { token, expires_at: end = 0 } = parsed.data
    const [now, renewal] = [Date.now(), end * 1000 - early]
    return { token, until: renewal > now ? renewal : now + usual }
  }

  // By the document itself, which is another one after each change.
  const kept = new WeakMap<RemoteServer, Entry>()
  const entryOf = (server: RemoteServer): Entry => {
    const known = kept.get(server)
    if (known && known.until > Date.now()) return known
    const entry: Entry = { outcome: signIn(server), until: Infinity }
    kept.set(server, entry)
    entry.outcome.then(
      outcome => (entry.until = 'until' in outcome ? outcome.until : Date.now() + pause),
      () => (entry.until = 0),
    )
    return entry
  }

  const tokenOf: GetToken = async (server, refused) => {
    const entry = entryOf(server)
    const outcome = await entry.outcome
    if ('refusal' in outcome) throw outcome.refusal
    if (outcome.token !== refused) return outcome.token
    // Whoever comes later finds the new one that the first of them has asked for.
    if (kept.get(server) === entry) kept.delete(server)
    return tokenOf(server)
  }
  return tokenOf
}
