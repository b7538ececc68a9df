import type { Principal } from '#lib/access/principal.ts'

/** The most characters of the claims. Most servers accept about 16,000 bytes of headers. */
const maxClaimsLength = 8_000

const encodeNames = (names: Iterable<string>): string => Buffer.from([...names].join(',')).toString('base64')

/**
 * Makes the headers that name the rights of the caller to a remote catalog, as other services of this kind do. The remote
 * catalog can filter its reply by them. Nothing depends on that, because this service filters the reply too. Claims that are
 * too long are left out; then the remote catalog shows less.
 */
export const createIdentityHeaders = ({ claims, roles, superUser }: Principal): Record<string, string> => {
  const encodedClaims = encodeNames(claims)
  return {
    'X-Source': 'CATALOG_MANAGER_REQUEST',
    'X-Internal-Api-Client': 'false',
    'X-Roles': encodeNames(roles),
    ...(encodedClaims.length <= maxClaimsLength && { 'X-Claims': encodedClaims }),
    ...(superUser && { 'X-Super-User': 'true' }),
  }
}
