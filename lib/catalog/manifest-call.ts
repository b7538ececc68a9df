import type { Principal } from '#lib/access/principal.ts'
import type { ManifestCall } from './changes.ts'
import type { Place } from './reference.ts'

/** What a change of a manifest needs of a call. */
export const manifestCall = (call: {
  readonly caller: Principal | undefined
  readonly params: Required<Place>
  readonly ifMatch: readonly string[] | undefined
  readonly signal: AbortSignal
}): ManifestCall => ({ caller: call.caller!, place: call.params, ifMatch: call.ifMatch, signal: call.signal })
