import type { Principal } from '#lib/access/principal.ts'
import { throwFullDisk } from '#lib/platform/full-disk.ts'
import type { ProgressReporter } from '#lib/async/progress.ts'
import { createKeyedLimiter } from '#lib/async/limiter.ts'
import type { CatalogManifest } from '#lib/catalog/manifest-schema.ts'
import type { RemoteCatalogSession } from '#lib/remote-catalogs/session.ts'
import type { TransferContext } from './context.ts'
import { importManifest } from './import.ts'
import { importMachine } from './import-machine.ts'
import { pullManifest } from './pull.ts'
import { pushManifest } from './push.ts'
import type { ImportMachine, ImportManifest, PullManifest, PullResult, PushManifest } from './schemas.ts'
import type { ImportResult } from '#lib/catalog/schemas.ts'

/**
 * Brings machines into catalogs and out of them. `manager` is the session of a catalog manager, if the transfer goes through
 * one. The functions of the same names say what each throws.
 */
export interface Transfers {
  push(
    caller: Principal,
    request: PushManifest,
    progress: ProgressReporter,
    manager?: RemoteCatalogSession,
  ): Promise<CatalogManifest>
  pull(
    caller: Principal,
    request: PullManifest,
    progress: ProgressReporter,
    manager?: RemoteCatalogSession,
  ): Promise<PullResult>
  import(caller: Principal, request: ImportManifest, progress: ProgressReporter): Promise<ImportResult>
  importMachine(caller: Principal, request: ImportMachine, progress: ProgressReporter): Promise<ImportResult>
}

/** Transfers of one user that run at the same time; others wait. Each holds indexes and ranges in memory. */
const maxTransfersPerUser = 8

export const createTransfers = (context: TransferContext): Transfers => {
  const limiter = createKeyedLimiter(maxTransfersPerUser)
  const run = <T>({ id }: Principal, { signal }: ProgressReporter, transfer: () => Promise<T>): Promise<T> =>
    limiter.run(id, transfer, signal).catch((error: unknown) => throwFullDisk(error))
  return {
    push: (caller, request, progress, manager) =>
      run(caller, progress, async () => pushManifest(context, caller, request, progress, manager)),
    pull: (caller, request, progress, manager) =>
      run(caller, progress, () => pullManifest(context, caller, request, progress, manager)),
    import: (caller, request, progress) =>
      run(caller, progress, () => importManifest(context, caller, request, progress)),
    importMachine: (caller, request, progress) =>
      run(caller, progress, () => importMachine(context, caller, request, progress)),
  }
}
