import type { Principal } from '#lib/auth/principal.ts'
import { isFault, messageOf, ServiceError } from '#lib/errors.ts'
import type { AdoptedMachine } from '#lib/machines/adopt.ts'
import type { PlannedStep, Work } from '#lib/work.ts'
import { type Connection, parseConnection } from '../connection.ts'
import type { CatalogManifest } from '../manifest.ts'
import { unpackInto } from '../pack/read.ts'
import { checkTrust } from '../pack/side-file.ts'
import { checkedStream } from './checked-stream.ts'
import type { TransferContext } from './context.ts'
import { localSource } from './local-source.ts'
import type { PackSource } from './pack-source.ts'
import { remoteSource } from './remote-source.ts'
import type { PullManifest, PullResult } from './requests.ts'

const plan = (start: boolean): readonly PlannedStep[] => [
  { name: 'pull_validate_stage', title: 'Check the request', weight: 5 },
  { name: 'downloader', title: 'Fetch the pack', weight: 50, unit: 'bytes' },
  { name: 'decompressor', title: 'Unpack the machine', weight: 25, unit: 'bytes' },
  { name: 'pull_register_stage', title: 'Register the machine', weight: 15 },
  ...(start ? [{ name: 'pull_start_stage', title: 'Start the machine', weight: 5 }] : []),
]

/** A machine may have this many files, and grow to so many times its pack: what is more is an attack. */
const limits = { entries: 100_000, ratio: 1_100 }
/** Bytes of the files of a machine, with their holes: what file systems take. */
const largest = 64 * 2 ** 40

const sourceOf = (
  context: TransferContext,
  caller: Principal,
  request: PullManifest,
  signal: AbortSignal,
): Promise<PackSource> => {
  const connection: Connection = request.connection === undefined ? {} : parseConnection(request.connection)
  const { service } = connection
  return service
    ? remoteSource(context, caller, request, { ...connection, service }, signal)
    : localSource(context, caller, request, connection, signal)
}

const checkSource = ({ machineType, trust, warn }: TransferContext, { manifest, side }: PackSource): void => {
  const { name, type } = manifest
  if (type !== machineType)
    throw new ServiceError('invalid', `${name} is a machine of the type ${type}, and this host runs ${machineType}.`)
  if (side) checkTrust(side, { ...trust, warn })
  else if (trust.policy === 'require')
    throw new ServiceError('forbidden', `The pack of ${name} is not signed, which this host requires.`)
}

/** Fetches a pack and unpacks it on its way; what it holds becomes a machine when all of it has proved right. */
const fetchMachine = async (
  { downloads, machines }: TransferContext,
  source: PackSource,
  { machine_name: name }: PullManifest,
  { work, signal }: { work: Work; signal: AbortSignal },
): Promise<AdoptedMachine> => {
  work.begin('downloader')
  await using lease = await downloads.lease(source, {
    signal,
    onProgress: bytes => work.advance('downloader', bytes, source.size),
  })
  // Waited for here: the lease ends with this function.
  return await machines.adopt({ name, work: { ...work, signal } }, async folder => {
    work.begin('decompressor')
    const checked = checkedStream(lease.stream(), source)
    await unpackInto(checked.stream, folder, {
      limits: { ...limits, bytes: largest },
      signal,
      onProgress: bytes => work.advance('decompressor', bytes, Math.max(bytes, source.manifest.size)),
    })
    checked.complete()
    work.end('downloader')
    work.end('decompressor')
    work.begin('pull_register_stage')
  })
}

/** What says that a pack is not there, or not what it should be: also when another has taken its place. */
const isOfPack = (error: unknown): boolean => isFault(error, 'not-found') || isFault(error, 'upstream')

/** Finds the pack of a request and makes a machine of it; of the new one when a push replaces it meanwhile. */
const fetchCurrent = async (
  context: TransferContext,
  request: PullManifest,
  find: () => Promise<PackSource>,
  how: { work: Work; signal: AbortSignal },
): Promise<{ readonly machine: AdoptedMachine; readonly manifest: CatalogManifest }> => {
  for (let source = await find(); ;)
    try {
      return { machine: await fetchMachine(context, source, request, how), manifest: source.manifest }
    } catch (error) {
      how.signal.throwIfAborted()
      const now = isOfPack(error) ? await find().catch(() => source) : source
      if (now.manifest.pack_sha256 === source.manifest.pack_sha256) throw error
      source = now
    }
}

/**
 * Fetches a pack of this catalog, or of that of the connection's host, and makes a machine of it, which exists wholly or not
 * at all. A pull that the service's end cut off goes on with what it has. Throws `invalid`, `forbidden`, `not-found`,
 * `conflict` (the name is taken), `no-space`, and what the provider and the other catalog refuse with.
 */
export const pullManifest = async (
  context: TransferContext,
  caller: Principal,
  request: PullManifest,
  work: Work,
): Promise<PullResult> => {
  const start = request.start_after_pull === true
  const signal = work.signal ?? new AbortController().signal
  work.plan(plan(start))
  work.begin('pull_validate_stage')
  context.machines.checkName(request.machine_name, work.id)
  const find = async (): Promise<PackSource> => {
    const source = await sourceOf(context, caller, request, signal)
    checkSource(context, source)
    // What it unpacks to is not known before, for disks have holes; it is hardly less than the pack.
    await context.folders.checkSpace(2 * source.size)
    work.end('pull_validate_stage')
    return source
  }
  const { machine, manifest } = await fetchCurrent(context, request, find, { work, signal })
  work.end('pull_register_stage')
  if (start) {
    work.begin('pull_start_stage')
    await context.machines.run(machine.id, 'start', { signal }).catch((error: unknown) => {
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
    local_cache_path: '',
    machine_id: machine.id,
    machine_name: machine.name,
    manifest,
  }
}
