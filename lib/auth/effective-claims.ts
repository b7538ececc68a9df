import type { User } from './directory-schemas.ts'
import type { Principal } from '#lib/access/principal.ts'
import { canonicalizeClaim } from '#lib/access/claims.ts'

/** A claim that a user holds, directly or through a role. `source_role` is the first role that gives it. */
export interface EffectiveClaim {
  readonly id: string
  readonly name: string
  readonly is_inherited: boolean
  readonly source_role?: string
}

/** The claims of each role, by the role's name. */
export type RoleClaims = ReadonlyMap<string, { readonly claims: readonly string[] }>

/** Lists all claims of a user, each once: first those held directly, then those of the roles in their order. */
export const listEffectiveClaims = (
  user: Pick<User, 'claims' | 'roles'>,
  roles: RoleClaims,
): readonly EffectiveClaim[] => {
  const found = new Map<string, EffectiveClaim>()
  for (const name of user.claims.map(canonicalizeClaim)) found.set(name, { id: name, name, is_inherited: false })
  for (const role of user.roles)
    for (const name of roles.get(role)?.claims ?? [])
      if (!found.has(name)) found.set(name, { id: name, name, is_inherited: true, source_role: role })
  return [...found.values()]
}

/** The principal of a user, with the claims held directly and through roles. */
export const createPrincipal = (user: User, roles: RoleClaims): Principal => ({
  id: user.id,
  username: user.username,
  email: user.email,
  roles: user.roles,
  claims: new Set(listEffectiveClaims(user, roles).map(({ name }) => name)),
  superUser: user.roles.includes('SUPER_USER'),
})
