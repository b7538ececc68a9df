import type { Principal } from '#lib/access/principal.ts'
import { type Architecture, parseArchitecture } from '#lib/catalog/identifiers.ts'
import type { CatalogManifest } from '#lib/catalog/manifest-schema.ts'
import { isFault, ServiceError } from '#lib/errors.ts'
import type { HostChoice, TransferHost, TransferHosts } from './context.ts'
import type { OrderedPack } from './ordered-pack.ts'

interface PackAndHost {
  readonly pack: OrderedPack
  readonly host: TransferHost
}

interface PackSearch {
  readonly job: string | undefined
  readonly find: (architecture: Architecture) => Promise<OrderedPack>
  readonly caller: Principal
  readonly signal: AbortSignal
}

/** The architectures of hosts, each once, in the order of the hosts. */
const listArchitectures = (hosts: readonly TransferHost[]): readonly Architecture[] => [
  ...new Set(
    hosts.flatMap(({ architecture }) => {
      const known = parseArchitecture(architecture ?? '')
      return known ? [known] : []
    }),
  ),
]

/**
 * Finds a pack and a host that can run it. If the request names no architecture, this takes the one of the host that the request
 * names, or of the best host for which the catalog has a pack. Of several hosts, one with the pack in its cache is the best. Throws what `find` throws, and `unavailable` when no host can run the machine.
 */
export const findForHost = async (
  hosts: TransferHosts,
  {
    host: reference,
    host_labels: labels,
    architecture,
  }: HostChoice & { readonly architecture: Architecture | undefined },
  { job, find, caller, signal }: PackSearch,
): Promise<PackAndHost> => {
  const named = hosts.findOfJob(job) ?? (reference === undefined ? undefined : hosts.find(reference))
  const findHost = async (manifest: CatalogManifest): Promise<TransferHost> => {
    if (named) return named
    const { type, architecture, pack_size, pack_sha256: sha256 } = manifest
    const disk = Math.ceil(pack_size / 2 ** 20)
    const ranked = hosts.rankHosts({ labels, architecture, machineType: type, disk })
    const [best, ...others] = ranked
    if (others.length === 0 || sha256 === '') return best
    return (await hosts.findCaching(ranked, sha256, caller, signal)) ?? best
  }
  const candidates = architecture ? [architecture] : listArchitectures(named ? [named] : hosts.rankHosts({ labels }))
  let missing: unknown = new ServiceError('unavailable', 'No host has said its architecture yet. Try again later.')
  for (const [at, candidate] of candidates.entries())
    try {
      const pack = await find(candidate)
      return { pack, host: await findHost(pack.manifest) }
    } catch (error) {
      const isMissing = isFault(error, 'not-found') || (isFault(error, 'unavailable') && at + 1 < candidates.length)
      if (!isMissing) throw error
      if (at === 0) missing = error
    }
  throw missing
}
