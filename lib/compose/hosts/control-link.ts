import { statfs } from 'node:fs/promises'
import { freemem } from 'node:os'
import { ServiceError } from '#lib/errors.ts'
import type { FetchJson } from '#lib/auth/assertions/issuer-keys.ts'
import type { TrustedServices } from '#lib/auth/assertions/trusted-issuers.ts'
import type { Events } from '#lib/events/events.ts'
import { hostKeyHeader } from '#lib/hosts/heartbeat-schemas.ts'
import { getHostIdOfKey } from '#lib/hosts/host-key.ts'
import type { ControlAccess } from '#lib/transfers/context.ts'
import { startAgent } from '#lib/hosts/agent/agent.ts'
import { createSendHeartbeat } from '#lib/hosts/agent/send-heartbeat.ts'
import type { HypervisorDriver } from '#lib/hypervisor/driver.ts'
import type { Machines } from '#lib/machines/machines.ts'
import type { Tunnels } from '#lib/machines/tunnels/tunnels.ts'
import type { HostFacts } from '#lib/platform/host-facts.ts'
import { getAreaLogger } from '#lib/platform/log.ts'
import { readReply } from '#lib/calls/received-reply.ts'
import type { Config } from '../config.ts'
import { version } from '../version.ts'

interface LinkedParts {
  readonly machines: Pick<Machines, 'list'>
  readonly driver: Pick<HypervisorDriver, 'kind'>
  readonly facts: Pick<HostFacts, 'cpus' | 'memory'>
  readonly events: Events
  readonly tunnels: Pick<Tunnels, 'listAssertions'>
  /** Names this run of the host in assertions; undefined for a host that accepts none. */
  readonly nonce: string | undefined
}

const toMegabytes = (bytes: number): number => Math.floor(bytes / (1 << 20))

/** The space in MB that the service has on the disk of a folder. */
const readFreeDisk = async (folder: string): Promise<number> => {
  const { bavail, bsize } = await statfs(folder)
  return toMegabytes(bavail * bsize)
}

/** Reports this host to its control, if the settings name one. */
export const openControlLink = (
  { control_url: controlUrl, control_key: key, state }: Pick<Config, 'control_url' | 'control_key' | 'state'>,
  { machines, driver, facts, events, tunnels, nonce }: LinkedParts,
): Disposable | undefined => {
  if (controlUrl === undefined || key === undefined) return undefined
  const log = getAreaLogger('hosts')
  return startAgent({
    send: createSendHeartbeat({ controlUrl, key, fetch }),
    readReport: async () => ({
      version,
      driver: driver.kind,
      architecture: process.arch === 'arm64' ? 'arm64' : 'x86_64',
      capacity: {
        cpus: facts.cpus,
        memory: facts.memory,
        free_memory: toMegabytes(freemem()),
        free_disk: await readFreeDisk(state),
      },
      ...(nonce !== undefined && { nonce }),
      connections: [...tunnels.listAssertions()],
    }),
    listMachines: machines.list,
    events,
    onProblem(problem) {
      if (problem === undefined) log.info('The control accepts heartbeats again.')
      else log.warning('The control does not accept heartbeats, which are retried: {problem}', { problem })
    },
  })
}

/** How this host reads packs through its control, if the settings name one. */
export const readControlAccess = ({
  control_url: url,
  control_key: key,
}: Pick<Config, 'control_url' | 'control_key'>): ControlAccess | undefined =>
  url === undefined || key === undefined
    ? undefined
    : { url, packsPath: `/hosts/${getHostIdOfKey(key)}/packs`, headers: { [hostKeyHeader]: key } }

/** Milliseconds that an issuer has to send its keys, and the most bytes that they may have. */
const timeout = 5_000
const maxBytes = 256 * 1024

const fetchJson: FetchJson = async url => {
  const response = await fetch(url, { redirect: 'error', signal: AbortSignal.timeout(timeout) })
  if (!response.ok) throw new ServiceError('upstream', `${url} answered ${response.status}.`)
  const bytes = await readReply(new URL(url).host, response.body, maxBytes)
  return JSON.parse(bytes.toString('utf8'))
}

/** The services whose assertions this host accepts; undefined if the settings name none. */
export const readTrustedIssuers = ({
  trusted_issuers: issuers,
}: Pick<Config, 'trusted_issuers'>): TrustedServices | undefined =>
  issuers.length > 0 ? { issuers, fetchJson, nonce: crypto.randomUUID() } : undefined
