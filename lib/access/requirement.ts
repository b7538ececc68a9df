import type { ClaimName, RoleName } from './claims.ts'
import type { Principal } from './principal.ts'

/** The rights that an endpoint requires: none, a signed-in user, or all of these roles and claims, and one of `anyClaim`. */
export type Requirement =
  | 'public'
  | 'signed-in'
  | {
      readonly roles?: readonly RoleName[]
      readonly claims?: readonly ClaimName[]
      readonly anyClaim?: readonly ClaimName[]
      /** False: an API key is refused, whatever the rights of its owner are. */
      readonly apiKeys?: false
    }

/** The right that a principal lacks, in words; undefined when the requirement is met. A super user holds every claim. */
export const findMissingRight = (
  access: Requirement,
  principal: Principal,
): { readonly missing: string } | undefined => {
  if (typeof access === 'string') return undefined
  if (access.apiKeys === false && principal.apiKeyId !== undefined)
    return { missing: 'a sign-in with a password in place of an API key' }
  const role = access.roles?.find(name => !principal.roles.includes(name))
  if (role) return { missing: `the role ${role}` }
  if (principal.superUser) return undefined
  const claim = access.claims?.find(name => !principal.claims.has(name))
  if (claim) return { missing: `the claim ${claim}` }
  if (access.anyClaim && !access.anyClaim.some(name => principal.claims.has(name)))
    return { missing: `one of the claims ${access.anyClaim.join(', ')}` }
  return undefined
}
