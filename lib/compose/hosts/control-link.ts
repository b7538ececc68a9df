import { freemem } from 'node:os'
import { ServiceError } from '#lib/errors.ts'
import type { FetchJson } from '#lib/auth/assertions/issuer-keys.ts'
import type { TrustedIssuer } from '#lib/auth/assertions/trusted-issuers.ts'
import type { Events } from '#lib/events/events.ts'
import { startAgent } from '#lib/hosts/agent/agent.ts'
import { createSendHeartbeat } from '#lib/hosts/agent/send-heartbeat.ts'
import type { HypervisorDriver } from '#lib/hypervisor/driver.ts'
import type { Machines } from '#lib/machines/machines.ts'
import type { HostFacts } from '#lib/platform/host-facts.ts'
import { getAreaLogger } from '#lib/platform/log.ts'
import { readReply } from '#lib/platform/outgoing-request.ts'
import type { Config } from '../config.ts'
import { version } from '../version.ts'

interface LinkedParts {
  readonly machines: Pick<Machines, 'list'>
  readonly driver: Pick<HypervisorDriver, 'kind'>
  readonly facts: Pick<HostFacts, 'cpus' | 'memory'>
  readonly events: Events
}

/** Reports this host to its control, if the settings name one. */
export const openControlLink = (
  { control_url: controlUrl, control_key: key }: Pick<Config, 'control_url' | 'control_key'>,
  { machines, driver, facts, events }: LinkedParts,
): Disposable | undefined => {
  if (controlUrl === undefined || key === undefined) return undefined
  const log = getAreaLogger('hosts')
  return startAgent({
    send: createSendHeartbeat({ controlUrl, key, fetch }),
    readReport: () => ({
      version,
      driver: driver.kind,
      architecture: process.arch === 'arm64' ? 'arm64' : 'x86_64',
      capacity: { cpus: facts.cpus, memory: facts.memory, free_memory: Math.floor(freemem() / (1 << 20)) },
    }),
    listMachines: machines.list,
    events,
    onProblem(problem) {
      if (problem === undefined) log.info('The control accepts heartbeats again.')
      else log.warning('The control does not accept heartbeats, which are retried: {problem}', { problem })
    },
  })
}

/** Milliseconds that an issuer has to send its keys, and the most bytes that they may have. */
const timeout = 5_000
const maxBytes = 256 * 1024

const fetchJson: FetchJson = async url => {
  const response = await fetch(url, { redirect: 'error', signal: AbortSignal.timeout(timeout) })
  if (!response.ok) throw new ServiceError('upstream', `${url} answered ${response.status}.`)
  const bytes = await readReply(new URL(url).host, response.body ?? new Blob().stream(), maxBytes)
  return JSON.parse(bytes.toString('utf8'))
}

/** The services whose assertions this host accepts; undefined if the settings name none. */
export const readTrustedIssuers = ({
  trusted_issuers: issuers,
}: Pick<Config, 'trusted_issuers'>):
  | { readonly issuers: readonly TrustedIssuer[]; readonly fetchJson: FetchJson }
  | undefined => (issuers.length > 0 ? { issuers, fetchJson } : undefined)
