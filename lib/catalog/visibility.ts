import { canonicalizeClaim } from '#lib/access/claims.ts'
import { normalizeName } from '#lib/access/normal-name.ts'
import type { Principal } from '#lib/access/principal.ts'

/** The fields of a manifest that decide who may see it. */
export interface ManifestRequirements {
  readonly required_claims?: readonly string[] | null | undefined
  readonly required_roles?: readonly string[] | null | undefined
}

/** The form in which the names of claims and roles are stored and compared. */
export const normalizeClaim = (name: string): string => canonicalizeClaim(normalizeName(name))

const normalizeAll = (names: Iterable<string>): ReadonlySet<string> => new Set([...names].map(normalizeClaim))

/**
 * Makes the check whether a principal may see a manifest. The principal needs one of the manifest's required roles and one
 * of its required claims, if it has any. A super user sees everything.
 */
export const createVisibilityCheck = ({
  superUser,
  roles,
  claims,
}: Principal): ((manifest: ManifestRequirements) => boolean) => {
  if (superUser) return () => true
  const [heldRoles, heldClaims] = [normalizeAll(roles), normalizeAll(claims)]
  const holdsAny = (held: ReadonlySet<string>, required: readonly string[] | null | undefined): boolean =>
    !required || required.length === 0 || required.some(name => held.has(normalizeClaim(name)))
  return ({ required_roles, required_claims }) =>
    holdsAny(heldRoles, required_roles) && holdsAny(heldClaims, required_claims)
}
