import type { Machines } from '#lib/machines/machines.ts'
import type { StartWorker } from '#lib/platform/workers.ts'
import type { Cache } from '../cache/cache.ts'
import type { CatalogContext } from '../changes.ts'
import type { Architecture } from '../names.ts'
import type { TrustPolicy } from '../pack/side-file.ts'
import type { Remote } from '../remote/remote.ts'
import type { Downloads } from './downloads.ts'
import type { WorkFolders } from './work-folder.ts'

/** What transfers share. */
export interface TransferContext {
  readonly catalog: CatalogContext
  readonly machines: Pick<Machines, 'export' | 'adopt' | 'at' | 'checkName' | 'run'>
  readonly remote: Remote
  readonly folders: WorkFolders
  readonly downloads: Downloads
  readonly cache: Pick<Cache, 'restore' | 'keep'>
  readonly startWorker: StartWorker
  /** Of this host. */
  readonly architecture: Architecture
  /** The one type of machine that this host can run. */
  readonly machineType: string
  /** Folders, with all below them, that bundles may be pushed from; any when empty. */
  readonly allowedFolders: readonly string[]
  /** Whom packs have to be signed by. */
  readonly trust: { readonly policy: TrustPolicy; readonly keys: readonly string[] }
  /** What packs are signed with that are made here: an Ed25519 private key in PEM. */
  readonly signingKey: string | undefined
  readonly warn: (text: string) => void
}
