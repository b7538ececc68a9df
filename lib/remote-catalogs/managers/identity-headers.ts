import type { Principal } from '#lib/access/principal.ts'

/** Bytes that the headers of a request may have, on most servers, are some 16,000. */
const longest = 8_000

const encodeNames = (names: Iterable<string>): string => Buffer.from([...names].join(',')).toString('base64')

/**
 * Tells a remote catalog whom a manager speaks for, as services of the field do, so that it can narrow its reply; it never
 * has to be believed, for the reply is narrowed here as well. Claims that do not fit are not told: then it shows less.
 */
export const createIdentityHeaders = ({ claims, roles, superUser }: Principal): Record<string, string> => {
  const told = encodeNames(claims)
  return {
    'X-Source': 'CATALOG_MANAGER_REQUEST',
    'X-Internal-Api-Client': 'false',
    'X-Roles': encodeNames(roles),
    ...(told.length <= longest && { 'X-Claims': told }),
    ...(superUser && { 'X-Super-User': 'true' }),
  }
}
