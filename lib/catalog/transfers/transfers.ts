import type { Principal } from '#lib/auth/principal.ts'
import type { Work } from '#lib/work.ts'
import type { CatalogManifest } from '../manifest.ts'
import type { Peer } from '../remote/peer.ts'
import type { TransferContext } from './context.ts'
import { importManifest } from './import.ts'
import { importMachine } from './import-machine.ts'
import { pullManifest } from './pull.ts'
import { pushManifest } from './push.ts'
import type { ImportMachine, ImportManifest, ImportResult, PullManifest, PullResult, PushManifest } from './requests.ts'

/** Brings machines into catalogs and out of them; `through` is the catalog of another service. Each says what it throws. */
export interface Transfers {
  push(caller: Principal, request: PushManifest, work: Work, through?: Peer): Promise<CatalogManifest>
  pull(caller: Principal, request: PullManifest, work: Work, through?: Peer): Promise<PullResult>
  import(caller: Principal, request: ImportManifest, work: Work): Promise<ImportResult>
  importMachine(caller: Principal, request: ImportMachine, work: Work): Promise<ImportResult>
}

export const createTransfers = (context: TransferContext): Transfers => ({
  push: (...call) => pushManifest(context, ...call),
  pull: (...call) => pullManifest(context, ...call),
  import: (...call) => importManifest(context, ...call),
  importMachine: (...call) => importMachine(context, ...call),
})
