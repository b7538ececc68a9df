import type { KeyRing } from '#lib/auth/key-ring.ts'
import { createSignAssertion } from '#lib/auth/assertions/sign-assertion.ts'
import type { Publish } from '#lib/events/events.ts'
import { createForwarding } from '#lib/hosts/forward/forwarding.ts'
import type { Fetch } from '#lib/hosts/forward/host-client.ts'
import { openHostTable } from '#lib/hosts/host-table.ts'
import { createHosts, publishUnreachable } from '#lib/hosts/hosts.ts'
import type { Store } from '#lib/storage/store.ts'
import type { Services } from '../services.ts'

/** What a control hands in for its hosts. */
export interface ControlHostPorts {
  readonly store: Store
  readonly publish: Publish
  /** The keys of its tokens, which sign its assertions about users too. */
  readonly keys: Pick<KeyRing, 'algorithm' | 'current'>
  /** Its name in the setting `trusted_issuers` of its hosts. */
  readonly issuer: string
  readonly fetch: Fetch
}

/** The services of a control that concern its hosts. */
export interface ControlHosts {
  readonly services: Pick<Services, 'hosts' | 'forwarding'>
  /** Publishes an event for each host that has become unreachable. Call it every 15 seconds, or when the program wakes. */
  publishUnreachable(): Promise<void>
  /** Whether any host is registered. */
  hasAny(): boolean
}

/** Opens the hosts of a store, and the way to them. */
export const openControlHosts = async ({
  store,
  publish,
  keys,
  issuer,
  fetch,
}: ControlHostPorts): Promise<ControlHosts> => {
  const table = await openHostTable(store)
  return {
    services: {
      hosts: createHosts({ store, table, publish }),
      forwarding: createForwarding({ table, fetch, sign: createSignAssertion({ keys, issuer }) }),
    },
    publishUnreachable: () => publishUnreachable({ store, table, publish }),
    hasAny: () => table.list().length > 0,
  }
}
