import { randomBytes } from 'node:crypto'
import type { Principal } from '#lib/access/principal.ts'
import { ServiceError } from '#lib/errors.ts'
import type { Store, Write } from '#lib/storage/store.ts'
import type { Accounts } from '../accounts.ts'
import type { PasswordRules } from '../password-policy.ts'
import type { TokenBasis } from '../sign-in.ts'
import { type IssuedLink, StoredLink } from './schemas.ts'

/**
 * Links for the first sign-in: who has one sets the password of its user, once, within 24 hours. Any other change of the password ends
 * it, because a link that a stolen token has issued must not outlive the change that ends the token.
 */
export interface Links {
  /**
   * Issues a link for a user. An earlier one of the same user ends. Throws `forbidden` for an API key, whose holder may not set the
   * password of its owner, and for a user of another service.
   */
  issue(user: Pick<Principal, 'id'>): Promise<IssuedLink>
  /**
   * Uses up a link: sets the password of its user, who is returned. Throws `unauthenticated` for a link that is unknown or has ended,
   * and `invalid` for a password that is too weak, which leaves the link as it is.
   */
  use(secret: string, password: string): Promise<{ readonly principal: Principal; readonly basis: TokenBasis }>
  /** The writes that delete what a user has, for the commit that deletes the user. */
  prepareRemoval(userId: string): Promise<readonly Write[]>
}

interface Options {
  readonly store: Store
  readonly accounts: Pick<Accounts, 'get' | 'setPassword' | 'principal'>
  readonly rules: PasswordRules
  readonly sha256: (text: string) => string
}

/** Milliseconds that a link can be used. */
const lifetime = 24 * 3_600_000

const createRefusal = (): ServiceError => {
  const message =
    'This link is not valid: it was used, it is older than 24 hours, a newer one was made, or the password was changed. `vmhost link` makes a new one.'
  return new ServiceError('unauthenticated', message, {
    extra: { error: 'invalid_grant', error_description: message },
  })
}

export const createLinks = ({ store, accounts, rules, sha256 }: Options): Links => {
  const links = store.collection('sign-in-links', StoredLink, { unique: { digest: link => link.digest } })
  return {
    async issue({ id }) {
      const user = await accounts.get(id)
      if (!user) throw new ServiceError('forbidden', 'A link sets a password, and you have none at this service.')
      const secret = randomBytes(32).toString('base64url')
      const expiresAt = Date.now() + lifetime
      const earlier = await links.get(id)
      const link = { id, digest: sha256(secret), expires_at: expiresAt, generation: user.generation }
      await store.commit([links.put({ ...link, ...(earlier && { rev: earlier.rev }) })])
      return { fragment: `#/link/${secret}`, expires_at: new Date(expiresAt).toISOString() }
    },
    async use(secret, password) {
      // By its digest, so that the time of the search tells nothing of the secret.
      const link = await links.find('digest', sha256(secret))
      const user = link && (await accounts.get(link.id))
      const hasEnded = !link || !user || link.expires_at <= Date.now() || link.generation !== user.generation
      if (hasEnded) throw createRefusal()
      rules.check(password, 'The new password')
      // One commit: of two uses at the same time one fails, because the other has removed this revision.
      await accounts.setPassword(user, password, [links.remove(link)])
      const [principal, changed] = [await accounts.principal(user.id), await accounts.get(user.id)]
      if (!principal || !changed) throw createRefusal()
      return { principal, basis: { gen: changed.generation } }
    },
    async prepareRemoval(id) {
      return (await links.get(id)) ? [links.remove({ id })] : []
    },
  }
}
