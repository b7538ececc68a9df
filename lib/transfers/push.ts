import { findMissingRight } from '#lib/access/requirement.ts'
import type { Principal } from '#lib/access/principal.ts'
import { isFault, messageOf, ServiceError } from '#lib/errors.ts'
import type { ProgressReporter } from '#lib/async/progress.ts'
import { parseConnection } from '#lib/objects/port/connection.ts'
import type { CatalogManifest } from '#lib/catalog/manifest-schema.ts'
import { formatManifestName } from '#lib/catalog/identifiers.ts'
import { isOutage } from '#lib/async/retry.ts'
import type { RemoteCatalogSession } from '#lib/remote-catalogs/session.ts'
import type { TransferContext } from './context.ts'
import { packedEarlier } from './packing.ts'
import { peerOf } from './open-session.ts'
import { cleanUp } from './push-clean-up.ts'
import { packMachine } from './push-pack.ts'
import { type Push, pushPlan } from './push-plan.ts'
import { publish } from './publish.ts'
import type { PushManifest } from './schemas.ts'
import { type KnownBefore, targetOf } from './push-target.ts'

/** Refuses a push that is to suspend a machine for somebody who may not do that. */
const refuseSuspending = (caller: Principal): void => {
  const refusal = findMissingRight({ claims: ['UPDATE_VM_STATES'] }, caller)
  if (refusal)
    throw new ServiceError(
      'forbidden',
      `To suspend the machine needs ${refusal.missing}, which you do not have. Push it without \`suspend\` when it is stopped.`,
    )
}

/** Checks, packs, uploads and registers. */
const pushMachine = async (push: Push): Promise<CatalogManifest> => {
  const { context, request, architecture, name, storage, target, work, folder } = push
  const signal = work.signal ?? new AbortController().signal
  // What this push itself has registered before the service was killed is not in its way.
  const earlier = await packedEarlier(folder)
  const lookBefore = async (): Promise<KnownBefore | undefined> => {
    const before = await target.before(request, architecture, signal)
    if (before?.revoked)
      throw new ServiceError('conflict', `${name} was revoked, and stays so. Push the machine as another version.`)
    const own = before && earlier?.digest.sha256 === before.pack_sha256
    if (before && !own && request.override_existing === false)
      throw new ServiceError('conflict', `The catalog has ${name} already, and the push is not to replace it.`)
    return before
  }
  await lookBefore()

  const provider = await context.catalog.storages.open(storage)
  work.end('push_validate_stage')
  await using held = new AsyncDisposableStack()
  const machine = await packMachine(push, provider, held)
  // Again, for to pack takes its time.
  const before = await lookBefore()
  const published = await publish(push, provider, machine, before, signal)
  await cleanUp(push, provider, published, { before, earlier }, signal)
  return published.registered
}

/** What becomes of the folder of a push that failed: what is packed stays for the next try where the other side is why. */
const leaveFolder = async ({ folders, warn }: TransferContext, folder: string, error: unknown): Promise<void> => {
  // What the end of the service cuts off goes on at its next start.
  if (isFault(error, 'unavailable')) return
  try {
    if (!isOutage(error)) return await folders.remove(folder)
    await folders.empty(folder, 'staging')
    await folders.keep(folder)
  } catch (failure) {
    warn(`The folder of a push that failed could not be put in order: ${messageOf(failure)}`)
  }
}

/**
 * Packs a machine of this host, uploads the pack, or its chunks and the list of them, to the provider of the connection and
 * registers it in the catalog: that of the connection's host, of the peer `through`, or this one. A push that was cut off and
 * comes again, after a kill or within a day of an outage, takes what is there of the pack and of the upload. Throws `invalid`, `forbidden` (to suspend), `conflict` (the
 * machine runs; there is such a manifest, and it is not to be replaced or was revoked), `no-space`, and what the provider and
 * the other catalog refuse with.
 */
export const pushManifest = (
  context: TransferContext,
  caller: Principal,
  request: PushManifest,
  work: ProgressReporter,
  through?: RemoteCatalogSession,
): Promise<CatalogManifest> => {
  work.plan(pushPlan(request.chunked === true))
  work.begin('push_validate_stage')
  if (request.suspend) refuseSuspending(caller)
  const { service, storage } = parseConnection(request.connection)
  if (service && through)
    throw new ServiceError(
      'invalid',
      'A push through a catalog manager names a provider alone: the manager is the host.',
    )
  if (!storage) throw new ServiceError('invalid', 'The connection names no provider, and so no place for the pack.')
  const architecture = request.architecture ?? context.architecture
  const name = formatManifestName(request.catalog_id, architecture, request.version)
  const target = targetOf(context, caller, storage, through ?? (service && peerOf(context, caller, service)))
  const { folders } = context
  // One after the other: nobody else may write this pack.
  return context.catalog.withLock(
    `push ${name}`,
    async () => {
      const folder = await folders.open('push', name, storage.type, JSON.stringify(storage.meta))
      try {
        const staging = await folders.empty(folder, 'staging')
        const push = { context, request, architecture, name, storage, target, work, folder, staging }
        const pushed = await pushMachine(push)
        await folders.remove(folder)
        return pushed
      } catch (error) {
        await leaveFolder(context, folder, error)
        throw error
      }
    },
    work.signal,
  )
}
