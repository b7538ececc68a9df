import type { Principal } from '#lib/access/principal.ts'
import { isFault, messageOf, ServiceError } from '#lib/errors.ts'
import type { ImportedMachine } from '#lib/machines/import.ts'
import type { PlannedStep, ProgressReporter } from '#lib/async/progress.ts'
import { type Connection, parseConnection } from '#lib/objects/port/connection.ts'
import type { CatalogManifest } from '#lib/catalog/manifest-schema.ts'
import { checkTrust } from '#lib/packs/sidecar.ts'
import type { RemoteCatalogSession } from '#lib/remote-catalogs/session.ts'
import type { TransferContext } from './context.ts'
import { type Following, fillSteps, fillWith } from './populate.ts'
import { localSource } from './local-source.ts'
import type { PackSource, SourceFor } from './download/pack-source.ts'
import { peerOf } from './open-session.ts'
import { peerSource } from './remote-source.ts'
import type { PullManifest, PullResult } from './schemas.ts'

const plan = (start: boolean): readonly PlannedStep[] => [
  { name: 'pull_validate_stage', title: 'Check the request', weight: 5 },
  { name: 'pull_check_cache_stage', title: 'Look what is cached', weight: 10, unit: 'bytes' },
  { name: 'downloader', title: 'Fetch the pack', weight: 40, unit: 'bytes' },
  { name: 'decompressor', title: 'Unpack the machine', weight: 20, unit: 'bytes' },
  { name: 'pull_cache_stage', title: 'Keep it for the next pull', weight: 10, unit: 'bytes' },
  { name: 'pull_register_stage', title: 'Register the machine', weight: 10 },
  ...(start ? [{ name: 'pull_start_stage', title: 'Start the machine', weight: 5 }] : []),
]

const sourceOf = (
  context: TransferContext,
  caller: Principal,
  request: PullManifest,
  through: RemoteCatalogSession | undefined,
  wanted: SourceFor,
): Promise<PackSource> => {
  if (through && request.connection !== undefined)
    throw new ServiceError('invalid', 'A pull through a catalog manager takes no connection: the manager is that.')
  const { service, storage }: Connection = request.connection === undefined ? {} : parseConnection(request.connection)
  const peer = through ?? (service && peerOf(context, caller, service))
  return peer
    ? peerSource(context, peer, request, storage, wanted)
    : localSource(context, caller, request, storage, wanted)
}

const checkSource = (
  { machineType, trust }: TransferContext,
  { manifest, side }: PackSource,
  warn: (text: string) => void,
): void => {
  const { name, type } = manifest
  if (type !== machineType)
    throw new ServiceError('invalid', `${name} is a machine of the type ${type}, and this host runs ${machineType}.`)
  if (side) checkTrust(side, { ...trust, warn })
  else if (trust.policy === 'require')
    throw new ServiceError('forbidden', `The pack of ${name} is not signed, which this host requires.`)
  else if (trust.policy === 'warn') warn(`The pack of ${name} is not signed.`)
}

/** A machine that was pulled. */
interface Pulled {
  readonly machine: ImportedMachine
  readonly manifest: CatalogManifest
  /** Where it is kept for the next pull. */
  readonly cached: string
}

const fetchMachine = async (
  context: TransferContext,
  source: PackSource,
  { machine_name: name }: PullManifest,
  following: Following,
): Promise<Pulled> => {
  const { work } = following
  let cached: string | undefined
  let filled = false
  const machine = await context.machines.import(
    { name, progress: { ...following.work, signal: following.signal } },
    async folder => {
      cached = await fillWith(context, source, folder, following)
      filled = true
      work.begin('pull_register_stage')
    },
  )
  // It was made before the service was killed.
  if (!filled) {
    for (const step of fillSteps) work.skip(step, 'not needed, the machine was there')
    work.begin('pull_register_stage')
  }
  return { machine, manifest: source.manifest, cached: cached ?? '' }
}

/** What says that a pack is not there, or not what it should be: also when another has taken its place. */
const isOfPack = (error: unknown): boolean => isFault(error, 'not-found') || isFault(error, 'upstream')

/** Makes a machine of the pack of a request; of the new one when a push replaces it meanwhile. */
const fetchCurrent = async (
  context: TransferContext,
  request: PullManifest,
  { first, find }: { readonly first: PackSource; readonly find: () => Promise<PackSource> },
  how: Following,
): Promise<Pulled> => {
  for (let source = first; ;)
    try {
      return await fetchMachine(context, source, request, how)
    } catch (error) {
      how.signal.throwIfAborted()
      const now = isOfPack(error) ? await find().catch(() => source) : source
      if (now.manifest.pack_sha256 === source.manifest.pack_sha256) throw error
      source = now
    }
}

/**
 * Fetches a pack of this catalog, or of that of the connection's host or of the peer `through`, and makes a machine of it,
 * which exists wholly or not at all. A pull that the service's end cut off goes on with what it has. Throws `invalid`, `forbidden`, `not-found`,
 * `conflict` (the name is taken), `no-space`, and what the provider and the other catalog refuse with.
 */
export const pullManifest = async (
  context: TransferContext,
  caller: Principal,
  request: PullManifest,
  work: ProgressReporter,
  through?: RemoteCatalogSession,
): Promise<PullResult> => {
  const start = request.start_after_pull === true
  const signal = work.signal ?? new AbortController().signal
  work.plan(plan(start))
  work.begin('pull_validate_stage')
  context.machines.checkName(request.machine_name, work.id)
  const warn = (text: string): void => {
    context.warn(text)
    work.setMessage('pull_validate_stage', text)
  }
  const find = async (): Promise<PackSource> => {
    const source = await sourceOf(context, caller, request, through, { job: work.id, signal })
    checkSource(context, source, warn)
    return source
  }
  const first = await find()
  work.end('pull_validate_stage')
  const { machine, manifest, cached } = await fetchCurrent(context, request, { first, find }, { caller, work, signal })
  work.end('pull_register_stage')
  if (start) {
    work.begin('pull_start_stage')
    await context.machines.run(machine.id, 'start', { progress: { ...work, signal } }).catch((error: unknown) => {
      throw new ServiceError(
        'upstream',
        `${machine.name} was pulled and is there, but could not be started: ${messageOf(error)}`,
        {
          cause: error,
        },
      )
    })
    work.end('pull_start_stage')
  }
  return {
    id: manifest.id,
    catalog_id: manifest.catalog_id,
    version: manifest.version,
    architecture: manifest.architecture,
    local_path: machine.home,
    local_cache_path: cached,
    machine_id: machine.id,
    machine_name: machine.name,
    manifest,
  }
}
