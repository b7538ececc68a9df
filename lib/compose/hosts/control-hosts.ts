import type { KeyRing } from '#lib/auth/key-ring.ts'
import { createSignAssertion } from '#lib/auth/assertions/sign-assertion.ts'
import type { Publish } from '#lib/events/events.ts'
import { createFindCachingHost } from '#lib/hosts/forward/caching-host.ts'
import { createCheckReply } from '#lib/hosts/forward/checked-reply.ts'
import { createForwarding } from '#lib/hosts/forward/forwarding.ts'
import { createFindMachineHost } from '#lib/hosts/forward/find-machine.ts'
import { createAskHost } from '#lib/hosts/forward/host-client.ts'
import { createHostJobs } from '#lib/hosts/forward/host-jobs.ts'
import { createSendToHost, type Fetch } from '#lib/hosts/forward/send-to-host.ts'
import { createForwardStream } from '#lib/hosts/forward/streams/forward-stream.ts'
import { createWatchedStreams } from '#lib/hosts/forward/streams/watched-streams.ts'
import { openHostTable } from '#lib/hosts/host-table.ts'
import { createHosts, publishUnreachable } from '#lib/hosts/hosts.ts'
import type { Store } from '#lib/storage/store.ts'
import type { TransferHosts } from '#lib/transfers/hosted/context.ts'
import type { Services } from '../services.ts'
import { version } from '../version.ts'
import { createTransferHosts } from './transfer-hosts.ts'

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
  /** The hosts, as transfers use them. */
  readonly transferHosts: TransferHosts
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
  const send = createSendToHost({ table, fetch, sign: createSignAssertion({ keys, issuer }) })
  const ask = createAskHost({ table, send })
  const check = createCheckReply(version)
  const streams = createWatchedStreams({ table })
  const findMachineHost = createFindMachineHost({ table, ask })
  const jobs = createHostJobs({ store, table, ask })
  return {
    services: {
      hosts: createHosts({ store, table, publish, onConnections: streams.onConnections }),
      forwarding: createForwarding({
        table,
        ask,
        findMachineHost,
        jobs,
        check,
        forwardStream: createForwardStream({ send, streams, check }),
      }),
    },
    transferHosts: createTransferHosts({ table, findMachineHost, findCachingHost: createFindCachingHost(ask), jobs }),
    publishUnreachable: () => publishUnreachable({ store, table, publish }),
    hasAny: () => table.list().length > 0,
  }
}
