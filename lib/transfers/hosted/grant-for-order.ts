import type { ClaimName } from '#lib/access/claims.ts'
import type { Principal } from '#lib/access/principal.ts'

/**
 * Returns the caller, with the claim for a transfer, as a control names them to a host. This service has checked the right to the
 * transfer, which may come from a catalog manager that the host does not know. The control signs the order for one body, so the
 * claim is good for nothing else.
 */
export const grantForOrder = (caller: Principal, claim: ClaimName): Principal => ({
  ...caller,
  claims: new Set([...caller.claims, claim]),
})
