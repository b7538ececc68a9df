import { findMissingRight } from '#lib/access/requirement.ts'
import type { Principal } from '#lib/access/principal.ts'
import { isFault, messageOf, ServiceError } from '#lib/errors.ts'
import { getSignal, type ProgressReporter } from '#lib/async/progress.ts'
import type { CatalogManifest } from '#lib/catalog/manifest-schema.ts'
import { formatManifestName } from '#lib/catalog/identifiers.ts'
import { isOutage } from '#lib/async/retry.ts'
import { acquireRepositoryLock } from '#lib/packs/chunk-store/repository-lock.ts'
import type { Compression } from '#lib/packs/tar/pack-tar.ts'
import type { RemoteCatalogSession } from '#lib/remote-catalogs/session.ts'
import { writeMachineChunks } from './chunking.ts'
import type { TransferContext } from './context.ts'
import { withFilesToPush } from './files-to-push.ts'
import { readEarlierPack } from './pack-journal.ts'
import { type PackedMachine, packFiles } from './packing.ts'
import { openRemoteSession } from './remote-session.ts'
import { publish, type Push } from './publish.ts'
import type { PushManifest } from './schemas.ts'
import { planPush, type PushStep } from './steps.ts'
import { createOrderedTarget } from './orders/ordered-target.ts'
import { assertSignedByControl } from './orders/assert-signed-by-control.ts'
import { parsePushConnection } from './push-connection.ts'
import { createPushTarget } from './create-push-target.ts'
import { type ExistingManifest, findReplaceable } from './push-target.ts'

/** Throws `forbidden` when the push is to suspend a machine and the caller may not do that. */
const refuseSuspending = (caller: Principal): void => {
  const refusal = findMissingRight({ claims: ['UPDATE_VM_STATES'] }, caller)
  if (refusal)
    throw new ServiceError(
      'forbidden',
      `To suspend the machine needs ${refusal.missing}, which you do not have. Push it without \`suspend\` when it is stopped.`,
    )
}

/** A compromise between speed and size, the default of other services too. */
const defaultLevel = 5

/** Returns how to compress the pack. Of two members of the request for the same thing the newer one counts. */
const toCompression = (request: PushManifest): Compression => {
  if (!(request.compress_pack ?? request.compress ?? false)) return { kind: 'none' }
  const level = request.compress_level ?? request.compress_pack_level ?? defaultLevel
  return { kind: request.compress_format ?? 'gzip', level }
}

/** The folder of a push on this host, and an empty one in it for files that the export has to copy. */
interface PushFolders {
  readonly folder: string
  readonly staging: string
}

/**
 * Packs the machine into the folder, or writes its chunks to the provider. Only meanwhile the machine is locked. `resources`
 * gets the lock on the chunks, which has to last until the manifest refers to their index.
 */
const packMachine = (
  { context, caller, request, provider, progress }: Push,
  { folder, staging }: PushFolders,
  resources: AsyncDisposableStack,
): Promise<PackedMachine> =>
  withFilesToPush(context, request, { caller, staging, progress }, async ({ type, files, requirements }, signal) => {
    const lock = request.chunked
      ? resources.use(await acquireRepositoryLock(provider, 'shared', signal, context.catalog.ownLocks))
      : undefined
    const compression = toCompression(request)
    const size = files.reduce((sum, file) => sum + file.size, 0)
    progress.begin('push_compress_stage')
    const onProgress = (done: number): void => progress.advance('push_compress_stage', done, size)
    const onMessage = (message: string): void => progress.setMessage('push_compress_stage', message)
    const { startWorker } = context
    const { pack, chunkBytes } = lock
      ? await writeMachineChunks(folder, files, { provider, lock }, { signal, onProgress, onMessage })
      : { pack: await packFiles(folder, files, compression, { startWorker, signal, onProgress }), chunkBytes: 0 }
    progress.end('push_compress_stage')
    const isCompressed = lock !== undefined || compression.kind !== 'none'
    return { pack, chunkBytes, lock, type, files, requirements, size, isCompressed }
  })

/** Checks the target, packs the machine and publishes it. */
const pushMachine = async (start: Omit<Push, 'provider'>, folders: PushFolders): Promise<CatalogManifest> => {
  const { context, request, architecture, name, storage, target, progress, signal } = start
  const earlierPack = await readEarlierPack(folders.folder)
  const isOwn = ({ pack_sha256 }: ExistingManifest): boolean => earlierPack?.digest.sha256 === pack_sha256
  const replacement = { request, architecture, name, isOwn, signal }
  await findReplaceable(target, replacement)

  const push: Push = { ...start, provider: await context.catalog.storages.open(storage) }
  progress.end('push_validate_stage')
  await using resources = new AsyncDisposableStack()
  const machine = await packMachine(push, folders, resources)
  // The catalog is asked again, because packing can take hours.
  const existing = await findReplaceable(target, replacement)
  return await publish(push, machine, { existing, pack: earlierPack })
}

/** Removes the folder of a push that failed, or leaves it for the next try if the other side is the cause. */
const closeFolder = async ({ folders, warn }: TransferContext, folder: string, error: unknown): Promise<void> => {
  // The service is shutting down, and its next start continues the push.
  if (isFault(error, 'unavailable')) return
  try {
    if (!isOutage(error)) return await folders.remove(folder)
    await folders.createEmpty(folder, 'staging')
    await folders.keep(folder)
  } catch (failure) {
    warn(`The folder of a push that failed could not be cleaned up: ${messageOf(failure)}`)
  }
}

/**
 * Packs a machine of this host, uploads the pack, or its chunks and their index, to the provider of the connection, and
 * registers the manifest: in the catalog of `manager`, of the host of the connection, or of this service. A push that comes
 * again after a kill, or within a day after an outage, continues with what is there of the pack and of the upload. Returns
 * the manifest. Throws `invalid`, `forbidden` (to suspend), `conflict` (the machine runs, or the manifest exists and is
 * revoked or not to be replaced), `no-space`, and what the provider and the other catalog throw.
 */
export const pushManifest = (
  context: TransferContext,
  caller: Principal,
  request: PushManifest,
  progress: ProgressReporter<PushStep>,
  manager?: RemoteCatalogSession,
): Promise<CatalogManifest> => {
  progress.plan(planPush(request.chunked === true))
  progress.begin('push_validate_stage')
  if (request.suspend) refuseSuspending(caller)
  if (request.target) assertSignedByControl(caller, 'target')
  const { service, storage } = parsePushConnection(request, manager !== undefined)
  const architecture = request.architecture ?? context.architecture
  const name = formatManifestName(request.catalog_id, architecture, request.version)
  const session = manager ?? (service && openRemoteSession(context, caller, service))
  const target = request.target
    ? createOrderedTarget(request.target)
    : createPushTarget(context, caller, storage, session)
  const signal = getSignal(progress)
  const { folders } = context
  // Pushes of one manifest run one after the other, because they write the same pack.
  return context.catalog.withLock(
    `push ${name}`,
    async () => {
      const folder = await folders.open('push', name, storage.type, JSON.stringify(storage.meta))
      try {
        const staging = await folders.createEmpty(folder, 'staging')
        const start = { context, caller, request, architecture, name, storage, target, progress, signal }
        const manifest = await pushMachine(start, { folder, staging })
        await folders.remove(folder)
        return manifest
      } catch (error) {
        await closeFolder(context, folder, error)
        throw error
      }
    },
    progress.signal,
  )
}
