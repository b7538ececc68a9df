import * as z from 'zod'
import type { Definition } from '#lib/hypervisor/definition.ts'
import { describeHypervisor, type MachineView, type Platform } from '#lib/hypervisor/driver.ts'
import { Autostart, Limits } from '#lib/hypervisor/machine-parts.ts'
import { listBootDevices } from '#lib/hypervisor/parts.ts'
import { computeRunTime } from '#lib/hypervisor/uptime.ts'
import { RestartPolicy } from './create/lifecycle.ts'
import { describeProblem } from './network.ts'
import { describeHardware } from './record-hardware.ts'
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
  /** Reads the size of the file system that has the machines, in MB. */
  readonly readDiskSize: () => Promise<number>
}

/** The members that a record has beside those of spec 2.6, if the machine has them. */
const optionalShape = {
  problem: z.string().optional().meta({ description: 'The problem of the machine' }),
  fork_ready: z.boolean().optional().meta({ description: 'true: a process waits for the next fork, which is fast' }),
  owner: z.string().optional().meta({ description: 'The id of the user who made the machine' }),
  labels: z.record(z.string(), z.string()).optional(),
  ephemeral: z.boolean().optional().meta({ description: 'true: the service deletes the machine when it has stopped' }),
  expires_at: z.string().optional().meta({ description: 'The time at which the service deletes the machine' }),
  limits: Limits.optional().meta({ description: 'What the machine may take of its host' }),
  autostart: Autostart.optional().meta({ description: 'Whether the service starts the machine at its own start' }),
  restart: RestartPolicy.optional().meta({
    description: 'on-crash: the service starts the machine again when its hypervisor process has crashed',
  }),
}

/** The machine record of spec 2.6, with further members if the machine has them. */
export type MachineRecord = typeof recordTemplate & z.infer<z.ZodObject<typeof optionalShape>>

/** The names of all members that records can have. */
export const recordMembers: ReadonlySet<string> = new Set([
  ...Object.keys(recordTemplate),
  ...Object.keys(optionalShape),
])

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

const { Hardware: hardware, ...others } = recordTemplate

const Disk = deriveSchema(hardware.hdd0).meta({ id: 'MachineDisk' })
const Drive = deriveSchema(hardware.cdrom0).meta({ id: 'MachineDrive' })
const NetworkCard = deriveSchema(hardware.net0).meta({ id: 'MachineNetworkCard' })

/**
 * The schema of the hardware. It is open, because a machine has more disks, drives and cards than the template names. Their types are
 * not in it: TypeScript, to which generators of clients translate it, has no type for members of any other name.
 */
const Hardware = z.looseObject({ ...deriveShape(hardware), hdd0: Disk, cdrom0: Drive, net0: NetworkCard })

/** The schema of the record: the keys of the template with the types of their values, and the further members. */
export const MachineRecord = z
  .object({ ...deriveShape(others), Hardware, State: z.enum(machineStates), ...optionalShape })
  // TypeScript cannot derive the type from a schema that is built at run time.
  .meta({ id: 'Machine' }) as unknown as z.ZodType<MachineRecord>

const pickOptionalMembers = ({
  owner,
  labels,
  ephemeral,
  expires_at,
  limits,
  autostart,
  restart,
}: Definition): Partial<MachineRecord> => ({
  ...(owner !== undefined && { owner }),
  ...(labels && { labels }),
  ...(ephemeral && { ephemeral }),
  ...(expires_at !== undefined && { expires_at }),
  ...(limits && Object.keys(limits).length > 0 && { limits }),
  ...(autostart && { autostart }),
  ...(restart && { restart }),
})

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
  return {
    ...recordTemplate,
    ...(problem !== undefined && { problem }),
    ...(view.forkReady && { fork_ready: true }),
    ...pickOptionalMembers(definition),
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
    OS: view.guest?.systemName ?? recordTemplate.OS,
    GuestTools: view.guest ? { state: 'installed', version: view.guest.agentVersion } : recordTemplate.GuestTools,
    Optimization: { ...recordTemplate.Optimization, 'Hypervisor type': describeHypervisor(platform) },
    'Boot order': listBootDevices(definition)
      .map(name => `${name} `)
      .join(''),
    'BIOS type': definition.firmware === 'uefi' ? 'efi' : 'bios',
    Hardware: describeHardware(view, platform),
    'Host Shared Folders': Object.fromEntries(
      (definition.shared_folders ?? []).map(({ name, ...folder }) => [name, folder]),
    ),
    'Startup and Shutdown': {
      ...recordTemplate['Startup and Shutdown'],
      Autostart: definition.autostart?.enabled ? 'start-host' : 'off',
      'Autostart delay': definition.autostart?.delay ?? 0,
    },
    Network: { ...recordTemplate.Network, ipAddresses: [...view.addresses] },
  }
}
