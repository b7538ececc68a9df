import * as z from 'zod'
import { canonicalClaim } from '#lib/auth/claims.ts'
import type { Principal } from '#lib/auth/principal.ts'
import { ServiceError } from '#lib/errors.ts'

const Names = z.array(z.string()).nullish()
const Name = z.string().optional()

/** A manifest of another service: what is decided by is known, the rest is passed on. */
const Manifest = z
  .looseObject({
    catalog_id: Name,
    name: Name,
    version: Name,
    architecture: Name,
    required_claims: Names,
    required_roles: Names,
  })
  .refine(({ catalog_id, name }) => catalog_id !== undefined || name !== undefined)
export type Manifest = z.infer<typeof Manifest>

/** Lists come flat or, from other services of the field, as one object per catalog id. */
const Grouped = z.record(z.string(), z.array(Manifest)).transform(groups => Object.values(groups).flat())
const Manifests = z.union([
  z.array(z.union([Manifest, Grouped])).transform(items => items.flat()),
  Manifest.transform(one => [one]),
])

/** The manifests of a reply. Throws `upstream` for one that is no catalog's: nothing is passed on that is not understood. */
export const manifestsIn = (reply: unknown): readonly Manifest[] => {
  const parsed = Manifests.safeParse(reply)
  if (!parsed.success) throw new ServiceError('upstream', 'The reply of the remote catalog does not hold manifests.')
  return parsed.data
}

const upper = (names: Iterable<string>): ReadonlySet<string> =>
  new Set([...names].map(name => canonicalClaim(name.toUpperCase())))

/** Whether somebody may know of a manifest: they hold any of its roles and any of its claims, where it asks for some. */
export const visibleTo = ({ superUser, roles, claims }: Principal): ((manifest: Manifest) => boolean) => {
  if (superUser) return () => true
  const [heldRoles, heldClaims] = [upper(roles), upper(claims)]
  const anyOf = (held: ReadonlySet<string>, asked: readonly string[] | null | undefined): boolean =>
    !asked || asked.length === 0 || [...upper(asked)].some(name => held.has(name))
  return ({ required_roles, required_claims }) => anyOf(heldRoles, required_roles) && anyOf(heldClaims, required_claims)
}
