import type { Principal } from '#lib/access/principal.ts'
import type { ManifestCall } from './changes.ts'
import type { ManifestReference } from './reference.ts'

/** Takes what a change of a manifest needs from the call of an endpoint. */
export const toManifestCall = (call: {
  readonly caller: Principal
  readonly params: ManifestReference
  readonly ifMatch: readonly string[] | undefined
  readonly signal: AbortSignal
}): ManifestCall => ({ caller: call.caller, reference: call.params, ifMatch: call.ifMatch, signal: call.signal })
