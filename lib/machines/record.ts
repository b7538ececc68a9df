import * as z from 'zod'
import { describeHypervisor, type MachineView, type Platform } from '#lib/hypervisor/driver.ts'
import { computeRunTime } from '#lib/hypervisor/uptime.ts'
import { describeProblem } from './network.ts'
import { recordTemplate } from './record-template.ts'
import { machineStates, type TransientState } from './states.ts'

/** The host of the machines, as their records show it. */
export interface Host {
  readonly name: string
  readonly id: string
  readonly url: string
  readonly externalAddress: string
  /** The account of the operating system that owns the machines. */
  readonly user: string
  readonly cpus: number
  /** The memory of the host, in MB. */
  readonly memory: number
}

/** The machine record of spec 2.6, and `problem` if the machine has one. */
export type MachineRecord = typeof recordTemplate & { problem?: string }

const deriveSchema = (value: unknown): z.ZodType => {
  if (typeof value === 'string') return z.string()
  if (typeof value === 'boolean') return z.boolean()
  if (typeof value === 'number') return z.int()
  if (Array.isArray(value)) return z.array(z.object({ type: z.string(), ip: z.string() }))
  // The template is JSON, so what is left is an object.
  return Object.keys(value as object).length === 0
    ? z.record(z.string(), z.unknown())
    : z.object(deriveShape(value as object))
}

const deriveShape = (value: object): Record<string, z.ZodType> =>
  Object.fromEntries(Object.entries(value).map(([key, member]) => [key, deriveSchema(member)]))

/** The schema of the record: the keys of the template with the types of their values, and `problem`. */
export const MachineRecord = z
  .object({ ...deriveShape(recordTemplate), State: z.enum(machineStates), problem: z.string().optional() })
  // TypeScript cannot derive the type from a schema that is built at run time.
  .meta({ id: 'Machine' }) as unknown as z.ZodType<MachineRecord>

/** Formats a MAC address as the record has it: twelve upper-case digits, without separators. */
const formatMac = (mac: string): string => mac.replaceAll(/[^0-9a-fA-F]/g, '').toUpperCase()

const formatMegabytes = (bytes: number): string => `${Math.round(bytes / (1 << 20))}Mb`

/**
 * Returns the machine record of spec 2.6.
 * @param transientState the state that clients see while an operation runs
 * @param now milliseconds since 1970, for the present uptime; default: the uptime at the last change of the state
 */
export const toMachineRecord = (
  view: MachineView,
  transientState: TransientState | undefined,
  host: Host,
  platform: Platform,
  now: number = view.since,
): MachineRecord => {
  const { definition } = view
  const problem = describeProblem(view, platform)
  const [disk] = definition.disks
  const [network] = definition.networks
  const { Hardware: hardware } = recordTemplate
  return {
    ...recordTemplate,
    ...(problem !== undefined && { problem }),
    ID: view.id,
    Name: view.name,
    Description: definition.description,
    State: transientState ?? view.state,
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
            size: formatMegabytes(disk.size),
          }
        : hardware.hdd0,
      net0: network
        ? {
            // A driver without network cards keeps the address, for a driver that has them.
            enabled: platform.networkCard !== '',
            type: platform.networkCard === '' ? '' : (network.mode ?? 'shared'),
            mac: formatMac(network.mac),
            card: platform.networkCard,
          }
        : hardware.net0,
    },
    Network: { ...recordTemplate.Network, ipAddresses: [...view.addresses] },
  }
}
