import type { Principal } from '#lib/access/principal.ts'
import { ServiceError } from '#lib/errors.ts'
import { isDiskFull } from '#lib/platform/files.ts'
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

/** Brings machines into catalogs and out of them; `through` is the catalog of another service. Each says what it throws. */
export interface Transfers {
  push(
    caller: Principal,
    request: PushManifest,
    work: ProgressReporter,
    through?: RemoteCatalogSession,
  ): Promise<CatalogManifest>
  pull(
    caller: Principal,
    request: PullManifest,
    work: ProgressReporter,
    through?: RemoteCatalogSession,
  ): Promise<PullResult>
  import(caller: Principal, request: ImportManifest, work: ProgressReporter): Promise<ImportResult>
  importMachine(caller: Principal, request: ImportMachine, work: ProgressReporter): Promise<ImportResult>
}

/** Transfers of one user at once, of which each holds lists and pieces in memory; the next ones wait. */
const mostAtOnce = 8

/** What a disk of this host that is full means to who asked for a transfer. */
const fullDisk = (error: unknown): never => {
  if (!isDiskFull(error)) throw error
  throw new ServiceError('no-space', 'The disk of this host is full. Make room, then try again.', { cause: error })
}

export const createTransfers = (context: TransferContext): Transfers => {
  const atOnce = createKeyedLimiter(mostAtOnce)
  const inTurn = <T>({ id }: Principal, { signal }: ProgressReporter, transfer: () => Promise<T>): Promise<T> =>
    atOnce.run(id, transfer, signal).catch(fullDisk)
  return {
    push: (caller, request, work, through) =>
      inTurn(caller, work, async () => pushManifest(context, caller, request, work, through)),
    pull: (caller, request, work, through) =>
      inTurn(caller, work, () => pullManifest(context, caller, request, work, through)),
    import: (caller, request, work) => inTurn(caller, work, () => importManifest(context, caller, request, work)),
    importMachine: (caller, request, work) => inTurn(caller, work, () => importMachine(context, caller, request, work)),
  }
}
