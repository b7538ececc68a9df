import type { Principal } from '#lib/access/principal.ts'
import { getSignal, type ProgressReporter } from '#lib/async/progress.ts'
import { createProviderTimeLimit } from '#lib/catalog/changes.ts'
import { formatManifestName, parseArchitecture } from '#lib/catalog/identifiers.ts'
import { type CatalogManifest, CatalogManifests } from '#lib/catalog/manifest-schema.ts'
import { listHiddenPaths } from '#lib/catalog/owners.ts'
import { isFault, messageOf, ServiceError } from '#lib/errors.ts'
import type { RemoteCatalogSession } from '#lib/remote-catalogs/session.ts'
import { createPushTarget } from '../create-push-target.ts'
import { type ExistingManifest, findReplaceable } from '../push-target.ts'
import { removeReplaced } from '../push-cleanup.ts'
import { parsePushConnection } from '../push-connection.ts'
import { assertSignedByControl } from '../orders/assert-signed-by-control.ts'
import { maxHiddenPaths, type TargetOrder } from '../orders/schemas.ts'
import type { PushManifest } from '../schemas.ts'
import { planPush, type PushStep } from '../steps.ts'
import type { HostChoice, HostedContext, TransferHost } from './context.ts'
import { deriveManifestId } from './derive-manifest-id.ts'
import { grantForOrder } from './grant-for-order.ts'
import { omitSteps } from './omit-steps.ts'
import { preparePushUndo } from './push-undo.ts'
import { type HostedPush, registerPushed } from './register-pushed.ts'
import { splitRequest } from './split-request.ts'

/** The steps of a push that this service does itself when the host has uploaded the pack. */
const ownSteps = ['push_register_stage', 'cleaning_up'] as const satisfies readonly PushStep[]

/** Finds the host with the machine that a push names. Throws `invalid` for a folder that may be on any of several hosts. */
const findHost = async (
  { hosts }: HostedContext,
  caller: Principal,
  { uuid }: PushManifest,
  { host, host_labels: labels }: HostChoice,
  signal: AbortSignal,
): Promise<TransferHost> => {
  if (host !== undefined) return hosts.find(host)
  if (uuid !== undefined) return hosts.findOfMachine(uuid, caller, signal)
  const [only, ...others] = hosts.rankHosts({ labels })
  if (only && others.length === 0) return only
  throw new ServiceError('invalid', 'Several hosts can have this local_path. Name the host with ?host=NAME.')
}

const readManifest = (host: TransferHost, reply: unknown): CatalogManifest => {
  const { data } = CatalogManifests.safeParse(reply)
  if (data?.[0]) return data[0]
  throw new ServiceError('upstream', `The host ${host.name} does not say what it has pushed.`)
}

const toOrderedExisting = ({ id, pack_filename, pack_sha256, revoked }: ExistingManifest): TargetOrder['existing'] => ({
  ...(id && { id }),
  pack_filename,
  pack_sha256,
  revoked,
})

/** Says what the host has to know of the catalog. Equal for each try of a job, so that a repeated request is equal too. */
const createOrder = async (
  { context, caller, name, storage, request, newId }: HostedPush,
  existing: ExistingManifest | undefined,
): Promise<TargetOrder> => {
  const hidden = await listHiddenPaths(context.catalog, caller, storage, `${request.catalog_id}/${name}`)
  if (hidden.length > maxHiddenPaths)
    throw new ServiceError('conflict', `Too many objects of other manifests have the name ${name}. Choose another one.`)
  return { id: newId, ...(existing && { existing: toOrderedExisting(existing) }), hidden: [...hidden] }
}

/** Has the host upload the pack, and registers it. After a failure nothing of the push is left on the provider. */
const uploadThroughHost = async (
  push: HostedPush,
  host: TransferHost,
  body: PushManifest,
  progress: ProgressReporter<PushStep>,
): Promise<CatalogManifest> => {
  const { context, target, request, architecture, name, newId, signal, caller } = push
  // A push that was interrupted just after its registration is done again, and registers the same.
  const isOwn = ({ id }: ExistingManifest): boolean => id === newId
  const replacement = { request, architecture, name, isOwn, signal }
  const found = await findReplaceable(target, replacement)
  const existing = found && isOwn(found) ? undefined : found
  const order = await createOrder(push, existing)
  const undo = await preparePushUndo(push, signal)
  try {
    const call = { method: 'POST', path: '/v1/catalog/push', body: { ...body, architecture, target: order } }
    const user = grantForOrder(caller, 'PUSH_CATALOG_MANIFEST')
    const reply = await context.hosts.run(host, user, call, omitSteps(progress, ownSteps))
    const pushed = readManifest(host, reply)
    progress.begin('push_register_stage')
    await findReplaceable(target, replacement)
    const published = await registerPushed(push, host, pushed, existing, order.hidden)
    progress.end('push_register_stage')
    progress.begin('cleaning_up')
    using limited = createProviderTimeLimit()
    await removeReplaced(push, published, { existing, pack: undefined }, limited.signal).catch((error: unknown) =>
      context.warn(`The objects that the push of ${name} replaced could not be removed: ${messageOf(error)}`),
    )
    progress.end('cleaning_up')
    return published.manifest
  } catch (error) {
    // After a shutdown of this service the push goes on.
    if (signal.aborted && isFault(signal.reason, 'unavailable')) throw error
    throw await undo.undoAfter(error)
  }
}

/**
 * Pushes a machine of a host into the catalog of this service, or with `manager` into that of another one. The host packs the
 * machine and uploads it to the storage of the connection; this service registers what the host has uploaded. The credentials of a
 * manager stay here. If the connection itself names another catalog, the host does all. Throws as `pushManifest`, and `unavailable`
 * when the host does not answer.
 */
export const pushThroughHost = async (
  context: HostedContext,
  caller: Principal,
  request: PushManifest & HostChoice,
  progress: ProgressReporter<PushStep>,
  manager?: RemoteCatalogSession,
): Promise<CatalogManifest> => {
  if (request.target) assertSignedByControl(caller, 'target')
  progress.plan(planPush(request.chunked === true))
  progress.begin('push_validate_stage')
  const signal = getSignal(progress)
  const { choice, body } = splitRequest<PushManifest>(request)
  const { service, storage } = parsePushConnection(request, manager !== undefined)
  const host = context.hosts.findOfJob(progress.id) ?? (await findHost(context, caller, body, choice, signal))
  if (service) {
    const call = { method: 'POST', path: '/v1/catalog/push', body }
    return readManifest(host, await context.hosts.run(host, caller, call, progress))
  }
  const architecture = body.architecture ?? parseArchitecture(host.architecture ?? '')
  if (!architecture)
    throw new ServiceError('unavailable', `The host ${host.name} has not said its architecture yet. Try again later.`)
  const name = formatManifestName(body.catalog_id, architecture, body.version)
  const push: HostedPush = {
    context,
    caller,
    request: body,
    architecture,
    name,
    storage,
    provider: await context.catalog.storages.open(storage),
    target: createPushTarget(context, caller, storage, manager),
    newId: deriveManifestId(progress.id),
    signal,
  }
  // Pushes of one manifest run one after the other, because they write the same pack.
  return context.catalog.withLock(`push ${name}`, () => uploadThroughHost(push, host, body, progress), signal)
}
