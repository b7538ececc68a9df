import { ServiceError } from '#lib/errors.ts'
import type { RoleClaims } from './effective.ts'
import type { Principal } from './principal.ts'

const lacks = (what: string): ServiceError =>
  new ServiceError('forbidden', `You cannot give or take ${what}, because you do not hold it yourself.`)

/** Passes a claim that the caller may give and take: one that they hold. Throws `forbidden`. */
export const checkClaimGrant = (caller: Principal, claim: string): void => {
  if (!caller.superUser && !caller.claims.has(claim)) throw lacks(`the claim ${claim}`)
}

/**
 * Passes a role that the caller may give and take: one that they hold. Everybody who holds all that USER gives may give
 * it too, for every new user has it. Other roles are not judged by their claims alone: catalog manifests ask for roles
 * by name. Throws `forbidden`.
 */
export const checkRoleGrant = (caller: Principal, role: string, roles: RoleClaims): void => {
  if (caller.superUser || caller.roles.includes(role)) return
  const covered = roles.get(role)?.claims.every(claim => caller.claims.has(claim)) ?? false
  if (role !== 'USER' || !covered) throw lacks(`the role ${role}`)
}

/**
 * Passes a caller who may change this user: whoever changes a password or an address can become that user, so they must
 * hold all that the user holds. Root is changed by root alone. Throws `forbidden`.
 */
export const checkMayChange = (
  caller: Principal,
  user: Principal,
  { rootId, roles }: { rootId: string | undefined; roles: RoleClaims },
): void => {
  // A narrowed key is its owner's, and must not become them.
  if (user.id === caller.id && caller.apiKeyId === undefined) return
  if (user.id === rootId) throw new ServiceError('forbidden', 'Only root can change root.')
  if (caller.superUser) return
  if (user.superUser) throw new ServiceError('forbidden', `Only a super user can change ${user.username}, who is one.`)
  for (const role of user.roles) checkRoleGrant(caller, role, roles)
  for (const claim of user.claims) checkClaimGrant(caller, claim)
}
