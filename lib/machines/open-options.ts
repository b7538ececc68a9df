import type { Every } from '#lib/async/every.ts'
import type { Events } from '#lib/events/events.ts'
import type { HypervisorDriver } from '#lib/hypervisor/driver.ts'
import type { Store } from '#lib/storage/store.ts'
import type { LeaseImage } from './images/leased-image.ts'
import type { Host } from './record.ts'
import type { SnapshotQuota } from './snapshots/quota.ts'

/** What `openMachines` needs. */
export interface OpenOptions {
  readonly driver: HypervisorDriver
  readonly host: Host
  /** Addresses of the host, beside the loopback, that forwards may be opened on; none when left out. */
  readonly forwardAddresses?: readonly string[]
  readonly leaseImage: LeaseImage
  /** Milliseconds that a guest has to shut down. */
  readonly stopTimeout: number
  /** What the snapshots of one machine may take; `defaultQuota` when left out. */
  readonly snapshotQuota?: SnapshotQuota
  readonly store: Store
  readonly events: Pick<Events, 'publish' | 'head' | 'resolveCursor' | 'entries' | 'onCommit'>
  /** Called when an event could not be stored. */
  readonly onPublishFailed: (error: unknown) => void
  /** Called when a machine that a killed process left suspended cannot be resumed. */
  readonly onResumeFailed: (error: unknown) => void
  readonly every: Every
  /** Called when a machine cannot be started or deleted, which nobody has asked for at the moment. */
  readonly onAutomationFailed: (what: 'start' | 'deletion', name: string, error: unknown) => void
}
