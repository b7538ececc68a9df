import { open, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { ServiceError } from '#lib/errors.ts'
import { maxJournalSize, readBounded } from '#lib/platform/bounded-file.ts'
import { makePrivateFolder, writeFileAtomic } from '#lib/platform/files.ts'
import { getLastLine, killProcess, readCommandLine, startDetached } from '#lib/platform/processes.ts'
import { requireProgram } from './host-commands.ts'
import { toDnsName } from './names.ts'

/** A machine's card on a network, and the name that the others find it by. */
export interface Member {
  readonly mac: string
  readonly machine: string
}

interface Options {
  /** The folder of the network, where dnsmasq's configuration and its leases are. */
  readonly folder: string
  readonly network: string
  readonly bridge: string
  /** The first three numbers of the network's addresses. */
  readonly subnet: string
  readonly members: readonly Member[]
  readonly environment: NodeJS.ProcessEnv
}

const fileNames = { config: 'dnsmasq.conf', leases: 'leases', pid: 'dnsmasq.pid', errors: 'dnsmasq.errors' } as const

/** Milliseconds within which a started dnsmasq must be ready, and those that one has to end. */
const startTimeout = 5_000

/** Writes the configuration. Of two machines with one name, the later one has its number behind it. */
const buildConfig = ({ folder, network, bridge, subnet, members }: Options): string => {
  const domain = toDnsName(network)
  const used = new Set<string>()
  const hosts = members.map(({ mac, machine }) => {
    const wanted = toDnsName(machine)
    const name = used.has(wanted) ? `${wanted}-${used.size}` : wanted
    used.add(name)
    return `dhcp-host=${mac},${name}`
  })
  return [
    ...[`interface=${bridge}`, 'except-interface=lo', 'bind-interfaces'],
    // Names of the outside are not for machines among themselves, and the host's own files are not for machines.
    ...['no-resolv', 'no-hosts', 'no-poll', `domain=${domain}`, `local=/${domain}/`, 'domain-needed'],
    ...[`dhcp-range=${subnet}.10,${subnet}.254,255.255.255.0,12h`, 'dhcp-authoritative', 'quiet-dhcp'],
    // Option 3 is the router: there is none.
    ...['dhcp-option=3', `dhcp-leasefile=${join(folder, fileNames.leases)}`],
    ...[`pid-file=${join(folder, fileNames.pid)}`, 'log-facility=/dev/null'],
    ...hosts,
    '',
  ].join('\n')
}

const readText = (path: string): Promise<string> =>
  readBounded(path, maxJournalSize).then(
    bytes => bytes.toString('utf8'),
    () => '',
  )

/** The pid of the dnsmasq of a network; undefined if none runs. The pid alone is no proof, since pids are reused. */
const findDnsmasq = async (folder: string): Promise<number | undefined> => {
  const pid = Number(await readText(join(folder, fileNames.pid)))
  if (!Number.isInteger(pid) || pid <= 1) return undefined
  return (await readCommandLine(pid))?.includes(`--conf-file=${join(folder, fileNames.config)}`) ? pid : undefined
}

/** Ends the dnsmasq of a network, if one runs. */
export const endDnsmasq = async (folder: string): Promise<void> => {
  const pid = await findDnsmasq(folder)
  if (pid === undefined) return
  killProcess(pid)
  while ((await findDnsmasq(folder)) !== undefined) await wait(5)
}

/**
 * Makes sure that a dnsmasq with the present members serves a network. It outlives the service. A change of the members replaces
 * it; it knows its leases again. Throws `unavailable` with its reason if it does not start.
 */
export const ensureDnsmasq = async (options: Options): Promise<void> => {
  const { folder, environment } = options
  const program = await requireProgram('dnsmasq', 'dnsmasq-base')
  await makePrivateFolder(folder)
  const config = join(folder, fileNames.config)
  const text = buildConfig(options)
  if ((await readText(config)) === text && (await findDnsmasq(folder)) !== undefined) return
  await endDnsmasq(folder)
  await writeFileAtomic(config, text)
  const errors = join(folder, fileNames.errors)
  for (const path of [errors, join(folder, fileNames.pid)]) await rm(path, { force: true })
  await using output = await open(errors, 'ax', 0o600)
  const args = ['--keep-in-foreground', `--conf-file=${config}`]
  const { pid, exited } = await startDetached(program, args, { cwd: folder, output: output.fd, environment })
  let hasExited = false
  void exited.then(() => (hasExited = true))
  for (const end = performance.now() + startTimeout; (await findDnsmasq(folder)) === undefined; await wait(5)) {
    if (!hasExited && performance.now() < end) continue
    if (!hasExited) killProcess(pid)
    throw new ServiceError('unavailable', `dnsmasq did not start: ${getLastLine(await readText(errors))}`)
  }
}
