import type { Principal } from '#lib/auth/principal.ts'
import { messageOf, ServiceError } from '#lib/errors.ts'
import type { PlannedStep, Work } from '#lib/work.ts'
import { type Connection, parseConnection } from '../connection.ts'
import { type UnpackedFile, unpackInto } from '../pack/read.ts'
import { checkTrust } from '../pack/side-file.ts'
import type { Peer } from '../remote/peer.ts'
import { checkedStream } from './checked-stream.ts'
import type { TransferContext } from './context.ts'
import { localSource } from './local-source.ts'
import type { PackSource } from './pack-source.ts'
import { peerOf } from './peer-of.ts'
import { peerSource } from './peer-source.ts'
import type { PullManifest, PullResult } from './requests.ts'

const plan = (start: boolean): readonly PlannedStep[] => [
  { name: 'pull_validate_stage', title: 'Check the request', weight: 5 },
  { name: 'pull_check_cache_stage', title: 'Look what is cached', weight: 10, unit: 'bytes' },
  { name: 'downloader', title: 'Fetch the pack', weight: 40, unit: 'bytes' },
  { name: 'decompressor', title: 'Unpack the machine', weight: 20, unit: 'bytes' },
  { name: 'pull_cache_stage', title: 'Keep it for the next pull', weight: 10, unit: 'bytes' },
  { name: 'pull_register_stage', title: 'Register the machine', weight: 10 },
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
  through: Peer | undefined,
  signal: AbortSignal,
): Promise<PackSource> => {
  if (through && request.connection !== undefined)
    throw new ServiceError('invalid', 'A pull through a catalog manager takes no connection: the manager is that.')
  const { service, storage }: Connection = request.connection === undefined ? {} : parseConnection(request.connection)
  const peer = through ?? (service && peerOf(context, caller, service))
  return peer
    ? peerSource(context, peer, request, storage, signal)
    : localSource(context, caller, request, storage, signal)
}

const checkType = ({ machineType }: TransferContext, { manifest: { name, type } }: PackSource): void => {
  if (type !== machineType)
    throw new ServiceError('invalid', `${name} is a machine of the type ${type}, and this host runs ${machineType}.`)
}

interface Following {
  readonly work: Work
  readonly signal: AbortSignal
}

/** Fetches a pack and unpacks it on its way into a folder. */
const unpackFetched = async (
  { downloads, folders }: TransferContext,
  source: PackSource,
  folder: string,
  { work, signal }: Following,
): Promise<readonly UnpackedFile[]> => {
  // What it unpacks to is not known before, for disks have holes; it is hardly less than the pack.
  await folders.checkSpace(2 * source.size)
  work.begin('downloader')
  await using lease = await downloads.lease(source, {
    signal,
    onProgress: bytes => work.advance('downloader', bytes, source.size),
  })
  work.begin('decompressor')
  const checked = checkedStream(lease.stream(), source)
  const files = await unpackInto(checked.stream, folder, {
    limits: { ...limits, bytes: largest },
    signal,
    onProgress: bytes => work.advance('decompressor', bytes, Math.max(bytes, source.manifest.size)),
  })
  checked.complete()
  work.end('downloader')
  work.end('decompressor')
  return files
}

/** Fills a folder with the machine of a pack: from the cache, or from where the pack is. Gives where it is kept. */
const fillWith = async (
  context: TransferContext,
  source: PackSource,
  folder: string,
  following: Following,
): Promise<string | undefined> => {
  const { cache } = context
  const { work, signal } = following
  const told = (step: string) => (bytes: number) => work.advance(step, bytes, Math.max(bytes, source.manifest.size))
  const { sha256 } = source
  work.begin('pull_check_cache_stage')
  const cached =
    sha256 === undefined
      ? undefined
      : await cache.restore(sha256, folder, { signal, onProgress: told('pull_check_cache_stage') })
  work.end('pull_check_cache_stage')
  if (cached !== undefined) {
    for (const step of ['downloader', 'decompressor', 'pull_cache_stage']) work.end(step)
    return cached
  }
  const files = await unpackFetched(context, source, folder, following)
  work.begin('pull_cache_stage')
  const kept =
    sha256 === undefined
      ? undefined
      : await cache
          .keep(sha256, source.manifest, files, folder, { signal, onProgress: told('pull_cache_stage') })
          .catch((error: unknown) => {
            signal.throwIfAborted()
            // The machine is there, and that is what was asked for.
            context.warn(`${source.manifest.name} could not be cached: ${messageOf(error)}`)
            return undefined
          })
  work.end('pull_cache_stage')
  return kept
}

/**
 * Fetches a pack of this catalog, or of that of the connection's host or of the peer `through`, and makes a machine of it, which exists wholly or not
 * at all. A pull that the service's end cut off goes on with what it has. Throws `invalid`, `forbidden`, `not-found`,
 * `conflict` (the name is taken), `no-space`, and what the provider and the other catalog refuse with.
 */
export const pullManifest = async (
  context: TransferContext,
  caller: Principal,
  request: PullManifest,
  work: Work,
  through?: Peer,
): Promise<PullResult> => {
  const start = request.start_after_pull === true
  const signal = work.signal ?? new AbortController().signal
  work.plan(plan(start))
  work.begin('pull_validate_stage')
  context.machines.checkName(request.machine_name)
  const source = await sourceOf(context, caller, request, through, signal)
  checkType(context, source)
  if (source.side) checkTrust(source.side, { ...context.trust, warn: context.warn })
  else if (context.trust.policy === 'require')
    throw new ServiceError('forbidden', `The pack of ${source.manifest.name} is not signed, which this host requires.`)
  work.end('pull_validate_stage')

  let kept: string | undefined
  const machine = await context.machines.adopt(
    { name: request.machine_name, work: { ...work, signal } },
    async folder => {
      kept = await fillWith(context, source, folder, { work, signal })
      work.begin('pull_register_stage')
    },
  )
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
  const { manifest } = source
  return {
    id: manifest.id,
    catalog_id: manifest.catalog_id,
    version: manifest.version,
    architecture: manifest.architecture,
    local_path: machine.home,
    local_cache_path: kept ?? '',
    machine_id: machine.id,
    machine_name: machine.name,
    manifest,
  }
}
