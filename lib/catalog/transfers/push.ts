import { mayCall } from '#lib/auth/access.ts'
import type { Principal } from '#lib/auth/principal.ts'
import { isFault, ServiceError } from '#lib/errors.ts'
import type { PlannedStep, Work } from '#lib/work.ts'
import { parseConnection } from '../connection.ts'
import type { CatalogManifest } from '../manifest.ts'
import { takeHold } from '../chunks/hold.ts'
import { listEnd } from '../chunks/list-object.ts'
import { metadataOf, writeMetadata } from '../metadata.ts'
import { manifestName } from '../names.ts'
import { sideEnd } from '../objects.ts'
import { encodeSideFile } from '../pack/side-file.ts'
import { sourceOfBytes } from '../providers/bytes.ts'
import type { Provider } from '../providers/provider.ts'
import type { Peer } from '../remote/peer.ts'
import { registeredManifest } from '../register.ts'
import { RegisterManifest } from '../requests.ts'
import { chunkTo } from './chunking.ts'
import { compressionOf } from './compression.ts'
import type { TransferContext } from './context.ts'
import { contentItems, withMachineFiles } from './machine-files.ts'
import { peerOf } from './peer-of.ts'
import { packedEarlier, packTo, sourceOfFile } from './packing.ts'
import { type Before, packEnds, packName, sideFileOf, sweepPacks } from './pushed-objects.ts'
import type { PushManifest } from './requests.ts'
import { type Target, targetOf } from './targets.ts'

const plan = (chunked: boolean): readonly PlannedStep[] => [
  { name: 'push_validate_stage', title: 'Check the request', weight: 5 },
  { name: 'collect', title: 'Collect the files', weight: 10, unit: 'percent' },
  {
    name: 'push_compress_stage',
    title: chunked ? 'Pack and upload the chunks' : 'Pack the machine',
    weight: 35,
    unit: 'bytes',
  },
  { name: 'push_check_remote_stage', title: 'Look what the provider has', weight: 5 },
  {
    name: 'push_upload_pack_stage',
    title: chunked ? 'Upload the list of them' : 'Upload the pack',
    weight: 45,
    unit: 'bytes',
  },
  { name: 'push_upload_meta_stage', title: 'Upload its description', weight: 5 },
  { name: 'push_register_stage', title: 'Register the manifest', weight: 3 },
  { name: 'cleaning_up', title: 'Clean up', weight: 2 },
]

interface Push {
  readonly context: TransferContext
  readonly request: PushManifest
  readonly architecture: string
  readonly name: string
  readonly storage: NonNullable<ReturnType<typeof parseConnection>['storage']>
  readonly target: Target
  readonly work: Work
  /** What there is of the push on this host. */
  readonly folder: string
  /** Where files of the machine go that must be copied. */
  readonly staging: string
}

/** Refuses a push that is to suspend a machine for somebody who may not do that. */
const refuseSuspending = (caller: Principal): void => {
  const refusal = mayCall({ claims: ['UPDATE_VM_STATES'] }, caller)
  if (refusal)
    throw new ServiceError(
      'forbidden',
      `To suspend the machine needs ${refusal.missing}, which you do not have. Push it without \`suspend\` when it is stopped.`,
    )
}

/**
 * Packs the machine, or puts its chunks on the provider: it is lent for just that long. `held` holds the chunks, which
 * nobody may remove until the manifest leads to the list of them.
 */
const packMachine = (
  { context, request, staging, work, folder }: Push,
  provider: Provider,
  held: AsyncDisposableStack,
) =>
  withMachineFiles(context, request, { staging, work }, async ({ type, files }, signal) => {
    const hold = request.chunked
      ? held.use(await takeHold(provider, 'write', signal, context.catalog.ownHolds))
      : undefined
    const compression = compressionOf(request)
    const size = files.reduce((all, file) => all + file.size, 0)
    work.begin('push_compress_stage')
    const following = {
      signal,
      onProgress: (done: number) => work.advance('push_compress_stage', done, size),
      note: (message: string) => work.note('push_compress_stage', message),
    }
    const packed = hold
      ? await chunkTo(folder, files, { provider, hold }, following)
      : {
          ...(await packTo(folder, files, compression, { ...following, startWorker: context.startWorker })),
          chunkBytes: 0,
        }
    work.end('push_compress_stage')
    return { type, files, size, packed, is_compressed: hold !== undefined || compression.kind !== 'none' }
  })

/** Whether a catalog has said that it does not take a manifest. */
const isRefusal = (error: unknown): boolean =>
  (['invalid', 'forbidden', 'not-found', 'conflict'] as const).some(fault => isFault(error, fault))

/** Packs, uploads and registers, in an order in which what the manifest leads to is whole at every moment. */
const pushMachine = async (push: Push): Promise<CatalogManifest> => {
  const { context, request, architecture, name, storage, target, work, folder } = push
  const signal = work.signal ?? new AbortController().signal
  const before = await target.before(request, architecture)
  if (before?.revoked)
    throw new ServiceError('conflict', `${name} was revoked, and stays so. Push the machine as another version.`)
  // What this push itself has registered before the service was killed is not in its way.
  const earlier = await packedEarlier(folder)
  const own = before && earlier?.digest.sha256 === before.pack_sha256
  if (before && !own && request.override_existing === false)
    throw new ServiceError('conflict', `The catalog has ${name} already, and the push is not to replace it.`)

  const provider = await context.catalog.storages.open(storage)
  work.end('push_validate_stage')
  await using held = new AsyncDisposableStack()
  const { type, files, size, packed, is_compressed } = await packMachine(push, provider, held)
  const { digest } = packed

  const discard = async (packAt: string): Promise<void> => {
    for (const path of [`${request.catalog_id}/${name}.meta`, packAt + sideEnd, packAt]) await provider.remove(path)
  }
  /** Uploads under the name that follows from what it replaces, and registers that. */
  const publish = async (replaced: Before | undefined) => {
    work.begin('push_check_remote_stage')
    const registration = RegisterManifest.parse({
      ...request,
      architecture,
      type,
      provider: storage,
      is_compressed,
      size,
      pack_size: digest.size + packed.chunkBytes,
      pack_sha256: digest.sha256,
      path: `/${request.catalog_id}`,
      pack_filename: packName(name, digest, replaced, request.chunked ? listEnd : '.pdpack'),
      metadata_filename: `${name}.meta`,
      virtual_machine_contents: contentItems(files),
    })
    const packAt = `${request.catalog_id}/${registration.pack_filename}`
    await target.check(registration, before)
    const there = await provider.stat(packAt, signal)
    work.end('push_check_remote_stage')

    if (there?.size === digest.size && there.sha256 === digest.sha256)
      work.skip('push_upload_pack_stage', 'not needed, the provider has it')
    else {
      work.begin('push_upload_pack_stage')
      await provider.write(packAt, sourceOfFile(packed.file, digest.size), {
        signal,
        sha256: digest.sha256,
        onProgress: done => work.advance('push_upload_pack_stage', done, digest.size),
      })
      work.end('push_upload_pack_stage')
    }

    work.begin('push_upload_meta_stage')
    const side = Buffer.from(encodeSideFile(sideFileOf(name, packed, files, context.signingKey)))
    await provider.write(packAt + sideEnd, sourceOfBytes(side), { signal })
    const metadata = metadataOf(registeredManifest(registration, before?.record), { compressed_checksum: digest.md5 })
    await writeMetadata(provider, `${request.catalog_id}/${name}.meta`, metadata, signal)
    work.end('push_upload_meta_stage')

    work.begin('push_register_stage')
    const registered = await target.register(registration).catch(async (error: unknown) => {
      // Nobody will lead to it. What the catalog has made of it, when it did not answer, nobody knows.
      if (!there && !before && isRefusal(error)) await discard(packAt).catch(() => undefined)
      throw error
    })
    work.end('push_register_stage')
    return { registered, packAt }
  }
  const isThere = async (packAt: string): Promise<boolean> => {
    const now = await provider.stat(packAt, signal)
    return now?.size === digest.size && (now.sha256 ?? digest.sha256) === digest.sha256
  }
  let { registered, packAt } = await publish(before)
  // Somebody has deleted it meanwhile, or another host has pushed under the same name: once more, under one of its own.
  if (!(await isThere(packAt)))
    ({ registered, packAt } = await publish({ pack_filename: packAt, pack_sha256: '', revoked: false }))

  work.begin('cleaning_up')
  // The machine was changed after an earlier try, of which there may be a part.
  const earlierAt = packEnds.map(
    one => earlier && `${request.catalog_id}/${packName(name, earlier.digest, before, one)}`,
  )
  const keeps = await target.others(registered)
  for (const path of earlierAt)
    if (path !== undefined && path !== packAt && !(await keeps(path))) await provider.remove(path)
  // What another host has registered by now is not left of an earlier push.
  const after = await target.before(request, architecture).catch(() => undefined)
  if (after && ['', digest.sha256].includes(after.pack_sha256))
    await sweepPacks(provider, { folder: request.catalog_id, name, kept: packAt, keeps }, signal)
  work.end('cleaning_up')
  return registered
}

/**
 * Packs a machine of this host, uploads the pack, or its chunks and the list of them, to the provider of the connection and
 * registers it in the catalog: that of the connection's host, of the peer `through`, or this one. A push that was cut off and
 * comes again takes what is there of the pack and of the upload. Throws `invalid`, `forbidden` (to suspend), `conflict` (the machine runs; there is such a manifest, and it is
 * not to be replaced or was revoked), `no-space`, and what the provider and the other catalog refuse with.
 */
export const pushManifest = (
  context: TransferContext,
  caller: Principal,
  request: PushManifest,
  work: Work,
  through?: Peer,
): Promise<CatalogManifest> => {
  work.plan(plan(request.chunked === true))
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
  const name = manifestName(request.catalog_id, architecture, request.version)
  const target = targetOf(context, caller, storage, through ?? (service && peerOf(context, caller, service)))
  const { folders } = context
  // One after the other: nobody else may write this pack.
  return context.catalog.turns(
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
        // What the end of the service cuts off goes on at its next start.
        if (!isFault(error, 'unavailable')) await folders.remove(folder)
        throw error
      }
    },
    work.signal,
  )
}
