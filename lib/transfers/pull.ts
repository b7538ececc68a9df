import type { Principal } from '#lib/access/principal.ts'
import { isFault, messageOf, ServiceError } from '#lib/errors.ts'
import type { ImportedMachine } from '#lib/machines/import.ts'
import { getSignal, type ProgressReporter } from '#lib/async/progress.ts'
import type { CatalogManifest } from '#lib/catalog/manifest-schema.ts'
import { checkTrust } from '#lib/packs/sidecar.ts'
import type { RemoteCatalogSession } from '#lib/remote-catalogs/session.ts'
import type { TransferContext } from './context.ts'
import { populateFolder, type PopulateOptions } from './populate.ts'
import { openCatalogSource } from './catalog-source.ts'
import { openOrderedSource } from './orders/ordered-source.ts'
import { assertSignedByControl } from './orders/assert-signed-by-control.ts'
import { parsePullConnection } from './pull-connection.ts'
import type { PackSource, SourceOptions } from './download/pack-source.ts'
import { openRemoteSession } from './remote-session.ts'
import { openRemoteSource } from './remote-source.ts'
import type { PullManifest, PullResult } from './schemas.ts'
import { planPull, populateSteps, type PullStep } from './steps.ts'

const openSource = (
  context: TransferContext,
  caller: Principal,
  request: PullManifest,
  manager: RemoteCatalogSession | undefined,
  options: SourceOptions,
): Promise<PackSource> => {
  if (request.source) return openOrderedSource(context, caller, request.source, options)
  const { service, storage } = parsePullConnection(request, manager !== undefined)
  const session = manager ?? (service && openRemoteSession(context, caller, service))
  return session
    ? openRemoteSource(context, session, request, storage, options)
    : openCatalogSource(context, caller, request, storage, options)
}

/** Throws `invalid` for a machine of a type that this host cannot run, `forbidden` for a pack that it does not trust. */
const checkSource = (
  { machineType, trust }: TransferContext,
  { manifest, sidecar }: PackSource,
  warn: (text: string) => void,
): void => {
  const { name, type } = manifest
  if (type !== machineType)
    throw new ServiceError('invalid', `${name} is a machine of the type ${type}, and this host runs ${machineType}.`)
  if (sidecar) checkTrust(sidecar, { ...trust, warn })
  else if (trust.policy === 'require')
    throw new ServiceError('forbidden', `The pack of ${name} is not signed, which this host requires.`)
  else if (trust.policy === 'warn') warn(`The pack of ${name} is not signed.`)
}

interface PulledMachine {
  readonly machine: ImportedMachine
  readonly manifest: CatalogManifest
  /** The folder of the machine in the cache, or an empty text. */
  readonly cachePath: string
}

/** Makes a machine of a pack, or returns the one that an earlier run of the job has made. */
const createMachine = async (
  context: TransferContext,
  source: PackSource,
  { machine_name: name }: PullManifest,
  options: PopulateOptions,
): Promise<PulledMachine> => {
  const { caller, progress, signal } = options
  let cachePath: string | undefined
  let isPopulated = false
  const machine = await context.machines.import(
    { name, owner: caller, progress: { ...progress, signal } },
    async folder => {
      cachePath = await populateFolder(context, source, folder, options)
      isPopulated = true
      progress.begin('pull_register_stage')
    },
  )
  // An earlier run of the job made the machine before the service was killed.
  if (!isPopulated) {
    for (const step of populateSteps) progress.skip(step, 'not needed, the machine was there')
    progress.begin('pull_register_stage')
  }
  return { machine, manifest: source.manifest, cachePath: cachePath ?? '' }
}

/** Says whether an error means that the pack is missing or is another one, for example because a push has replaced it. */
const isPackError = (error: unknown): boolean => isFault(error, 'not-found') || isFault(error, 'upstream')

/** Makes a machine of the pack. If a push replaces the pack meanwhile, it starts again with the new one. */
const importCurrent = async (
  context: TransferContext,
  request: PullManifest,
  findSource: () => Promise<PackSource>,
  firstSource: PackSource,
  options: PopulateOptions,
): Promise<PulledMachine> => {
  for (let source = firstSource; ;)
    try {
      return await createMachine(context, source, request, options)
    } catch (error) {
      options.signal.throwIfAborted()
      const current = isPackError(error) ? await findSource().catch(() => source) : source
      if (current.manifest.pack_sha256 === source.manifest.pack_sha256) throw error
      source = current
    }
}

/**
 * Fetches a pack and makes a machine of it, which exists completely or not at all. The pack comes from the catalog of
 * `manager`, of the host of the connection, or of this service. A pull that a shutdown of the service has interrupted
 * continues with what is there. Throws `invalid`, `forbidden`, `not-found`, `conflict` (the name is taken), `no-space`, and
 * what the provider and the other catalog throw.
 */
export const pullManifest = async (
  context: TransferContext,
  caller: Principal,
  request: PullManifest,
  progress: ProgressReporter<PullStep>,
  manager?: RemoteCatalogSession,
): Promise<PullResult> => {
  const startsMachine = request.start_after_pull === true
  const signal = getSignal(progress)
  progress.plan(planPull(startsMachine))
  progress.begin('pull_validate_stage')
  if (request.source) assertSignedByControl(caller, 'source')
  context.machines.checkName(request.machine_name, progress.id)
  const warn = (text: string): void => {
    context.warn(text)
    progress.setMessage('pull_validate_stage', text)
  }
  const findSource = async (): Promise<PackSource> => {
    const source = await openSource(context, caller, request, manager, { job: progress.id, signal })
    checkSource(context, source, warn)
    return source
  }
  const firstSource = await findSource()
  progress.end('pull_validate_stage')
  const options = { caller, progress, signal }
  const { machine, manifest, cachePath } = await importCurrent(context, request, findSource, firstSource, options)
  progress.end('pull_register_stage')
  if (startsMachine) {
    progress.begin('pull_start_stage')
    await context.machines.run(machine.id, 'start', { progress: { ...progress, signal } }).catch((error: unknown) => {
      throw new ServiceError(
        'upstream',
        `${machine.name} was pulled and exists, but could not be started: ${messageOf(error)}`,
        { cause: error },
      )
    })
    progress.end('pull_start_stage')
  }
  return {
    id: manifest.id,
    catalog_id: manifest.catalog_id,
    version: manifest.version,
    architecture: manifest.architecture,
    local_path: machine.home,
    local_cache_path: cachePath,
    machine_id: machine.id,
    machine_name: machine.name,
    manifest,
  }
}
