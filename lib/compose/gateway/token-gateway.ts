import { hash } from 'node:crypto'
import { type CryptoKey, decodeProtectedHeader, importJWK, type JWK } from 'jose'
import type { Principal } from '#lib/access/principal.ts'
import type { AuditFacts } from '#lib/audit/entry.ts'
import { createHttpAudit } from '#lib/audit/http-audit.ts'
import { type Algorithm, usesSharedSecret } from '#lib/auth/algorithms.ts'
import { createTokens, type TokenKeys } from '#lib/auth/tokens.ts'
import { createApp } from '#lib/http/app.ts'
import type { Route } from '#lib/http/endpoint.ts'
import type { AppOptions } from '#lib/http/options.ts'

interface Options extends Pick<AppOptions, 'cors' | 'headers'> {
  readonly routes: readonly Route[]
  readonly algorithm: Algorithm
  /** Asks the control for the keys that verify its tokens now. */
  readonly loadPublicKeys: () => Promise<readonly JWK[]>
  /** Called with each refusal, as the audit records it. */
  readonly onRefused: (facts: AuditFacts) => void
}

/** Refuses a request from an address in front of the control. Settles with undefined when the control has to answer it. */
export type RefuseBadToken = (request: Request, address: string) => Promise<Response | undefined>

/** Milliseconds between two requests for keys, so that tokens with made-up keys cannot cause requests without end. */
const refreshPause = 10_000

/** Stands for every caller: only the control knows who has which rights. */
const anybody: Principal = { id: '', username: '', email: '', roles: [], claims: new Set(), superUser: false }

/** A route that authenticates as the control's does, and then does nothing. */
const reduceToAuthentication = ({ id, endpoint }: Route): Route => {
  const { method, path, summary, access, effect, reply, also, tokenInQuery, oauth } = endpoint
  const contract = { method, path, summary, access, effect, reply, uses: [] }
  const more = { ...(also && { also }), ...(tokenInQuery && { tokenInQuery }), ...(oauth && { oauth }) }
  return { id, endpoint: { ...contract, ...more, handle: () => ({}) } }
}

const readKeyId = (token: string): string | undefined => {
  try {
    return decodeProtectedHeader(token).kid
  } catch {
    return undefined
  }
}

/** Caches the public keys of the control. */
const createPublicKeys = (algorithm: Algorithm, loadPublicKeys: Options['loadPublicKeys']) => {
  let known = new Map<string, CryptoKey>()
  let loadedAt = -Infinity
  let loading: Promise<void> | undefined
  const load = async (): Promise<void> => {
    const published = await loadPublicKeys()
    const pairs = published.map(async jwk => [jwk.kid ?? '', await importJWK(jwk, algorithm)] as const)
    // Keys that are published are of an asymmetric algorithm, so they are no bytes.
    known = new Map((await Promise.all(pairs)) as (readonly [string, CryptoKey])[])
  }
  const keys: TokenKeys = {
    algorithm,
    current() {
      throw new Error('a gateway signs no tokens')
    },
    find(id) {
      const verification = id === undefined ? undefined : known.get(id)
      return verification && { verification }
    },
  }
  return {
    keys,
    /** Whether this gateway can say if the control has a key of this id. It may ask the control first, but not too often. */
    async canDecide(id: string): Promise<boolean> {
      if (known.has(id)) return true
      if (!loading && Date.now() - loadedAt < refreshPause) return false
      loadedAt = Date.now()
      loading ??= load().finally(() => (loading = undefined))
      await loading
      return true
    },
  }
}

/**
 * Creates the check of signature and expiry of a request's token. A bad token gets the reply that the control would give. Whether
 * a good one was ended, and what its user may do, only the control knows. Tokens that are signed with a secret are not checked.
 */
export const createTokenGateway = ({
  routes,
  algorithm,
  loadPublicKeys,
  onRefused,
  ...replies
}: Options): RefuseBadToken => {
  if (usesSharedSecret(algorithm)) return async () => undefined
  const { keys, canDecide } = createPublicKeys(algorithm, loadPublicKeys)
  const tokens = createTokens({ keys, lifetime: 0, sha256: text => hash('sha256', text) })
  const { fetch: answer } = createApp({
    ...replies,
    routes: routes.map(reduceToAuthentication),
    services: {},
    async authenticate({ bearer }) {
      if (bearer === undefined) return anybody
      const keyId = readKeyId(bearer)
      // The control signs every token with a key that has an id.
      if (keyId === undefined || (await canDecide(keyId))) await tokens.verify(bearer)
      return anybody
    },
    onOutcome: () => {},
    audit: createHttpAudit({
      admit: () => {},
      // Whatever else comes of a request, the control decides and records it.
      async record(facts) {
        if (facts.status === 401) onRefused(facts)
      },
    }),
    checkReplies: false,
  })
  return async (request, address) => {
    const reply = await answer(request, { address })
    return reply.status === 401 ? reply : undefined
  }
}
