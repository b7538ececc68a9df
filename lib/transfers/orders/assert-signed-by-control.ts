import type { Principal } from '#lib/access/principal.ts'
import { ServiceError } from '#lib/errors.ts'

/** A caller whom the control of this host names, in a body that the control has signed. */
type SignedByControl = Principal & { readonly issuer: string; readonly bodyDigest: string }

const isSignedByControl = (caller: Principal): caller is SignedByControl =>
  caller.issuer !== undefined && caller.bodyDigest !== undefined

/**
 * Throws `forbidden` for a member of a transfer that only the control of this host may send, in a body that the control has
 * signed. The member says what is in the catalog of the control, which a caller alone must not claim.
 */
export const assertSignedByControl: (caller: Principal, member: string) => asserts caller is SignedByControl = (
  caller,
  member,
) => {
  if (isSignedByControl(caller)) return
  throw new ServiceError(
    'forbidden',
    `Only the control of a host sends the member ${member}, in a request that it has signed. Leave it out.`,
  )
}
