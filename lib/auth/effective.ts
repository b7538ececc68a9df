import type { User } from './directory-schemas.ts'
import type { Principal } from './principal.ts'
import { canonicalClaim } from './claims.ts'

/** A claim that a user has: held directly, or by the first role that gives it. */
export interface EffectiveClaim {
  readonly id: string
  readonly name: string
  readonly is_inherited: boolean
  readonly source_role?: string
}

/** What each role gives, by its name. */
export type RoleClaims = ReadonlyMap<string, { readonly claims: readonly string[] }>

/** All claims of a user, each once: direct ones first, then those of the roles in their order. */
export const effectiveClaims = (user: Pick<User, 'claims' | 'roles'>, roles: RoleClaims): readonly EffectiveClaim[] => {
  const found = new Map<string, EffectiveClaim>()
  for (const name of user.claims.map(canonicalClaim)) found.set(name, { id: name, name, is_inherited: false })
  for (const role of user.roles)
    for (const name of roles.get(role)?.claims ?? [])
      if (!found.has(name)) found.set(name, { id: name, name, is_inherited: true, source_role: role })
  return [...found.values()]
}

/** What a user may do. */
export const principalOf = (user: User, roles: RoleClaims): Principal => ({
  id: user.id,
  username: user.username,
  email: user.email,
  roles: user.roles,
  claims: new Set(effectiveClaims(user, roles).map(({ name }) => name)),
  superUser: user.roles.includes('SUPER_USER'),
})
