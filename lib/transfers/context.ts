import type { Machines } from '#lib/machines/machines.ts'
import type { HostFiles } from '#lib/platform/host-files.ts'
import type { StartWorker } from '#lib/platform/workers.ts'
import type { Cache } from './cache/cache.ts'
import type { CatalogContext } from '#lib/catalog/changes.ts'
import type { Architecture } from '#lib/catalog/identifiers.ts'
import type { TrustPolicy } from '#lib/packs/sidecar.ts'
import type { RemoteClient } from '#lib/remote-catalogs/remote-client.ts'
import type { Downloads } from './download/downloads.ts'
import type { WorkFolders } from './download/work-folder.ts'

/** What transfers share. */
export interface TransferContext {
  readonly catalog: CatalogContext
  readonly machines: Pick<Machines, 'export' | 'import' | 'findByHome' | 'checkName' | 'run'>
  readonly remote: RemoteClient
  readonly folders: WorkFolders
  readonly downloads: Downloads
  readonly cache: Pick<Cache, 'restore' | 'keep'>
  readonly startWorker: StartWorker
  /** Of this host. */
  readonly architecture: Architecture
  /** The one type of machine that this host can run. */
  readonly machineType: string
  /** What bundles may be pushed from. */
  readonly hostFiles: HostFiles
  /** Whom packs have to be signed by. */
  readonly trust: { readonly policy: TrustPolicy; readonly keys: readonly string[] }
  /** What packs are signed with that are made here: an Ed25519 private key in PEM. */
  readonly signingKey: string | undefined
  readonly warn: (text: string) => void
}
