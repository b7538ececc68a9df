import { toServedPath } from '#lib/calls/paths.ts'
import type { FindCachingHost } from '#lib/hosts/forward/caching-host.ts'
import type { FindMachineHost } from '#lib/hosts/forward/find-machine.ts'
import type { HostJobs } from '#lib/hosts/forward/host-jobs.ts'
import { rankHosts } from '#lib/hosts/forward/placement.ts'
import type { HostTable } from '#lib/hosts/host-table.ts'
import type { StoredHost } from '#lib/hosts/stored-host.ts'
import type { TransferHost, TransferHosts } from '#lib/transfers/hosted/context.ts'

interface Options {
  readonly table: HostTable
  readonly findMachineHost: FindMachineHost
  readonly findCachingHost: FindCachingHost
  readonly jobs: HostJobs
}

const toTransferHost = ({ id, name, report }: StoredHost): TransferHost => ({
  id,
  name,
  architecture: report?.architecture,
})

/** The hosts of a control, as its transfers use them. */
export const createTransferHosts = ({ table, findMachineHost, findCachingHost, jobs }: Options): TransferHosts => ({
  find: reference => toTransferHost(table.find(reference)),
  findOfMachine: async (reference, caller, signal) => toTransferHost(await findMachineHost(reference, caller, signal)),
  rankHosts(needs) {
    const [best, ...others] = rankHosts(table, needs)
    return [toTransferHost(best), ...others.map(toTransferHost)]
  },
  async findCaching(hosts, sha256, caller, signal) {
    const known = hosts.flatMap(({ id }) => table.get(id) ?? [])
    const found = await findCachingHost(known, sha256, caller, signal)
    return found && toTransferHost(found)
  },
  run: (host, caller, { path, ...call }, progress) =>
    jobs.run(table.find(host.id), caller, { ...call, path: toServedPath(path) }, progress),
  findOfJob(job) {
    const host = jobs.findHost(job)
    return host && toTransferHost(host)
  },
})
