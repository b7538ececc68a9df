import { canonicalizeClaim } from '#lib/access/claims.ts'
import { normalizeName } from '#lib/access/normal-name.ts'
import type { Principal } from '#lib/access/principal.ts'

/** What of a manifest decides who may know of it. */
export interface Requirements {
  readonly required_claims?: readonly string[] | null | undefined
  readonly required_roles?: readonly string[] | null | undefined
}

/** A name of a claim or a role in the spelling that all of them have. */
export const normalClaim = (name: string): string => canonicalizeClaim(normalizeName(name))

const namesOf = (names: Iterable<string>): ReadonlySet<string> => new Set([...names].map(normalClaim))

/** Whether somebody may know of a manifest: they hold any of its roles and any of its claims, where it asks for some. */
export const visibleTo = ({ superUser, roles, claims }: Principal): ((manifest: Requirements) => boolean) => {
  if (superUser) return () => true
  const [heldRoles, heldClaims] = [namesOf(roles), namesOf(claims)]
  const anyOf = (held: ReadonlySet<string>, asked: readonly string[] | null | undefined): boolean =>
    !asked || asked.length === 0 || asked.some(name => held.has(normalClaim(name)))
  return ({ required_roles, required_claims }) => anyOf(heldRoles, required_roles) && anyOf(heldClaims, required_claims)
}
