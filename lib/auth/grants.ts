import { ServiceError } from '#lib/errors.ts'
import type { RoleClaims } from './effective-claims.ts'
import type { Principal } from '#lib/access/principal.ts'

const createNotHeldError = (what: string): ServiceError =>
  new ServiceError('forbidden', `You cannot give or take ${what}, because you do not hold it yourself.`)

/** Passes a claim that the caller may grant and revoke, which is a claim that they hold. Throws `forbidden`. */
export const checkClaimGrant = (caller: Principal, claim: string): void => {
  if (!caller.superUser && !caller.claims.has(claim)) throw createNotHeldError(`the claim ${claim}`)
}

/**
 * Passes a role that the caller may grant and revoke, which is a role that they hold. Whoever holds all claims of USER may
 * also grant USER, because every new user has it. For other roles the claims are not enough, because catalog manifests
 * require roles by name. Throws `forbidden`.
 */
export const checkRoleGrant = (caller: Principal, role: string, roles: RoleClaims): void => {
  if (caller.superUser || caller.roles.includes(role)) return
  const holdsAllClaims = roles.get(role)?.claims.every(claim => caller.claims.has(claim)) ?? false
  if (role !== 'USER' || !holdsAllClaims) throw createNotHeldError(`the role ${role}`)
}

/**
 * Passes a caller who may change this user. A caller who can change the password or the address can sign in as the user, so
 * the caller must hold all rights of the user. Only root can change root. Throws `forbidden`.
 */
export const checkMayChange = (
  caller: Principal,
  user: Principal,
  { rootId, roles }: { rootId: string | undefined; roles: RoleClaims },
): void => {
  // An API key may be narrowed, so acting for the user is not enough.
  if (user.id === caller.id && caller.apiKeyId === undefined) return
  if (user.id === rootId) throw new ServiceError('forbidden', 'Only root can change root.')
  if (caller.superUser) return
  if (user.superUser) throw new ServiceError('forbidden', `Only a super user can change ${user.username}, who is one.`)
  for (const role of user.roles) checkRoleGrant(caller, role, roles)
  for (const claim of user.claims) checkClaimGrant(caller, claim)
}
