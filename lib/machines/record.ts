import * as z from 'zod'
import { describeHypervisor, type MachineView, type Platform } from '#lib/hypervisor/driver.ts'
import { computeRunTime } from '#lib/hypervisor/uptime.ts'
import { problemOf } from './network.ts'
import { recordTemplate } from './record-template.ts'
import { machineStates, type TransientState } from './states.ts'

/** What the record tells of the host that the machine is on. */
export interface Host {
  readonly name: string
  readonly id: string
  readonly url: string
  readonly externalAddress: string
  /** The operating system's account that the machines belong to. */
  readonly user: string
  /** How many it has. */
  readonly cpus: number
  /** MB that it has. */
  readonly memory: number
}

/** `problem` is there only when there is one: what is wrong with the machine, in words. */
export type MachineRecord = typeof recordTemplate & { problem?: string }

const schemaOf = (value: unknown): z.ZodType => {
  if (typeof value === 'string') return z.string()
  if (typeof value === 'boolean') return z.boolean()
  if (typeof value === 'number') return z.int()
  if (Array.isArray(value)) return z.array(z.object({ type: z.string(), ip: z.string() }))
  return Object.keys(value as object).length === 0
    ? z.record(z.string(), z.unknown())
    : z.object(shapeOf(value as object))
}

const shapeOf = (value: object): Record<string, z.ZodType> =>
  Object.fromEntries(Object.entries(value).map(([key, member]) => [key, schemaOf(member)]))

/** The record's schema: exactly the keys of the template, each of its type, and `problem`. */
export const MachineRecord = z
  .object({ ...shapeOf(recordTemplate), State: z.enum(machineStates), problem: z.string().optional() })
  .meta({ id: 'Machine' }) as unknown as z.ZodType<MachineRecord>

/** `52:54:00:ab:cd:ef` as the record writes it: twelve capital digits. */
const plainMac = (mac: string): string => mac.replaceAll(/[^0-9a-fA-F]/g, '').toUpperCase()

const megabytes = (bytes: number): string => `${Math.round(bytes / (1 << 20))}Mb`

/**
 * The machine record of spec 2.6.
 * @param shown what the machine is shown as while an operation runs on it
 * @param now milliseconds since 1970 for an exact uptime; left out, the uptime at the last change of state
 */
export const machineRecord = (
  view: MachineView,
  shown: TransientState | undefined,
  host: Host,
  platform: Platform,
  now: number = view.since,
): MachineRecord => {
  const { definition } = view
  const problem = problemOf(view, platform)
  const [disk] = definition.disks
  const [network] = definition.networks
  const { Hardware: hardware } = recordTemplate
  return {
    ...recordTemplate,
    ...(problem !== undefined && { problem }),
    ID: view.id,
    Name: view.name,
    Description: definition.description,
    State: shown ?? view.state,
    Uptime: String(Math.floor(computeRunTime(view, view.state, now) / 1000)),
    'Home path': `${view.home}/machine.json`,
    Home: `${view.home}/`,
    'Restore Image': view.stateFile ?? '',
    user: host.user,
    host: host.name,
    host_id: host.id,
    host_url: host.url,
    host_state: 'healthy',
    host_external_ip_address: host.externalAddress,
    internal_ip_address: view.addresses[0]?.ip ?? '',
    Optimization: { ...recordTemplate.Optimization, 'Hypervisor type': describeHypervisor(platform) },
    'Boot order': disk ? 'hdd0 ' : '',
    Hardware: {
      ...hardware,
      cpu: {
        ...hardware.cpu,
        cpus: definition.cpus,
        accl: platform.acceleration,
        mode: platform.cpuMode,
        type: platform.cpuType,
      },
      memory: { ...hardware.memory, size: `${definition.memory}Mb` },
      hdd0: disk
        ? {
            ...hardware.hdd0,
            enabled: true,
            port: platform.diskPort,
            image: disk.path.startsWith('/') ? disk.path : `${view.home}/${disk.path}`,
            type: disk.format === 'qcow2' ? 'expanded' : 'plain',
            size: megabytes(disk.size),
          }
        : hardware.hdd0,
      net0: network
        ? {
            // A driver without a card keeps the address for the day on which the machine moves to another.
            enabled: platform.networkCard !== '',
            type: platform.networkCard === '' ? '' : (network.mode ?? 'shared'),
            mac: plainMac(network.mac),
            card: platform.networkCard,
          }
        : hardware.net0,
    },
    Network: { ...recordTemplate.Network, ipAddresses: [...view.addresses] },
  }
}
