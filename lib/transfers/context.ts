import type { Machines } from '#lib/machines/machines.ts'
import type { HostFiles } from '#lib/platform/host-files.ts'
import type { StartWorker } from '#lib/platform/workers.ts'
import type { Cache } from './cache/cache.ts'
import type { CatalogContext } from '#lib/catalog/changes.ts'
import type { Architecture } from '#lib/catalog/identifiers.ts'
import type { TrustPolicy } from '#lib/packs/sidecar.ts'
import type { RemoteClient } from '#lib/remote-catalogs/remote-client.ts'
import type { Downloads } from './download/downloads.ts'
import type { WorkFolders } from '#lib/platform/work-folders.ts'

/** The catalog of this service. */
export interface CatalogPart {
  readonly catalog: CatalogContext
}

/** How a host reads packs through its control. */
export interface ControlAccess {
  readonly url: string
  /** The path below `/api/v1` of what the host may read; the id of a job follows. */
  readonly packsPath: string
  /** They have the key of the host. */
  readonly headers: Readonly<Record<string, string>>
}

/** The services and settings that all transfers use. */
export interface TransferContext extends CatalogPart {
  readonly machines: Pick<Machines, 'export' | 'import' | 'findByHome' | 'checkName' | 'run'>
  readonly remote: RemoteClient
  readonly folders: WorkFolders
  readonly downloads: Downloads
  readonly cache: Pick<Cache, 'restore' | 'keep'>
  readonly startWorker: StartWorker
  /** The architecture of this host. */
  readonly architecture: Architecture
  /** The one type of machine that this host can run. */
  readonly machineType: string
  /** Opens the files of bundles that callers name, if that is allowed. */
  readonly hostFiles: HostFiles
  /** Whose signatures packs must have. */
  readonly trust: { readonly policy: TrustPolicy; readonly keys: readonly string[] }
  /** How this host reads packs through its control, if it has one. */
  readonly control?: ControlAccess | undefined
  /** The key that signs the packs of this service: an Ed25519 private key in PEM. */
  readonly signingKey: string | undefined
  readonly warn: (text: string) => void
}
