import type { Principal } from '#lib/auth/principal.ts'
import type { Work } from '#lib/work.ts'
import type { CatalogManifest } from '../manifest.ts'
import type { TransferContext } from './context.ts'
import { importMachine, importManifest } from './import.ts'
import { pullManifest } from './pull.ts'
import { pushManifest } from './push.ts'
import type { ImportMachine, ImportManifest, ImportResult, PullManifest, PullResult, PushManifest } from './requests.ts'

/** Brings machines into catalogs and out of them; each says what it throws. */
export interface Transfers {
  push(caller: Principal, request: PushManifest, work: Work): Promise<CatalogManifest>
  pull(caller: Principal, request: PullManifest, work: Work): Promise<PullResult>
  import(caller: Principal, request: ImportManifest, work: Work): Promise<ImportResult>
  importMachine(caller: Principal, request: ImportMachine, work: Work): Promise<ImportResult>
}

export const createTransfers = (context: TransferContext): Transfers => ({
  push: (caller, request, work) => pushManifest(context, caller, request, work),
  pull: (caller, request, work) => pullManifest(context, caller, request, work),
  import: (caller, request, work) => importManifest(context, caller, request, work),
  importMachine: (caller, request, work) => importMachine(context, caller, request, work),
})
