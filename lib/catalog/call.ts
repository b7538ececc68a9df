import type { Principal } from '#lib/auth/principal.ts'
import type { ManifestCall } from './changes.ts'
import type { Place } from './place.ts'

/** What a change of a manifest needs of a call. */
export const manifestCall = (call: {
  readonly caller: Principal | undefined
  readonly params: Required<Place>
  readonly ifMatch: () => readonly string[] | undefined
}): ManifestCall => ({ caller: call.caller!, place: call.params, ifMatch: call.ifMatch() })
