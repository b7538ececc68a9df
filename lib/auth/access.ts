import type { ClaimName, RoleName } from './claims.ts'
import type { Principal } from './principal.ts'

/** Who may call an endpoint: anybody, whoever is signed in, or who holds all of these (of `anyClaim` one). */
export type Access =
  | 'public'
  | 'signed-in'
  | {
      readonly roles?: readonly RoleName[]
      readonly claims?: readonly ClaimName[]
      readonly anyClaim?: readonly ClaimName[]
    }

/** Undefined when the principal may call, else what is missing, in words. A super user holds every claim. */
export const mayCall = (access: Access, principal: Principal): { readonly missing: string } | undefined => {
  if (typeof access === 'string') return undefined
  const role = access.roles?.find(name => !principal.roles.includes(name))
  if (role) return { missing: `the role ${role}` }
  if (principal.superUser) return undefined
  const claim = access.claims?.find(name => !principal.claims.has(name))
  if (claim) return { missing: `the claim ${claim}` }
  if (access.anyClaim && !access.anyClaim.some(name => principal.claims.has(name)))
    return { missing: `one of the claims ${access.anyClaim.join(', ')}` }
  return undefined
}
