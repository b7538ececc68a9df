import * as z from 'zod'
import type { Fault } from '#lib/errors.ts'
import { knownObject, formatNames } from '#lib/access/known-members.ts'
import { bounds } from '#lib/hypervisor/definition.ts'
import { cloudInitShape } from './create/cloud-init.ts'
import { createHardwareShape } from './create/hardware.ts'
import { lifecycleShape } from './create/lifecycle.ts'
import { networkMembers } from './create/network.ts'
import { diskOfImage, imageMembers } from './images/resolve-images.ts'
import { MachineReference } from './reference.ts'
import { machineStates } from './states.ts'

export { MachineReference }

/** The faults of operations on machines that the hypervisor causes. */
export const hypervisorFaults = ['upstream', 'timeout'] as const satisfies readonly Fault[]

/** A valid machine name: no control characters, no path separators, no surrounding blanks, not a UUID. */
export const MachineName = z
  .string()
  .trim()
  .min(1)
  .max(128)
  .regex(/^[^\p{C}/\\]+$/u, 'must not contain control characters, / or \\')
  .refine(name => !/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(name), 'must not look like a UUID')

export const Description = z.string().max(bounds.description)

export const OperationResult = z
  .object({
    id: z.string(),
    operation: z.enum(['Start', 'Stop', 'Restart', 'Suspend', 'Resume', 'Reset', 'Pause']),
    status: z.literal('Success'),
  })
  .meta({ id: 'MachineOperationResult' })
export type OperationResult = z.infer<typeof OperationResult>

export const MachineStatus = z
  .object({
    id: z.string(),
    status: z.enum(machineStates),
    ip_configured: z.string().meta({ description: 'The first IP address; - if the machine has none' }),
    problem: z.string().optional().meta({ description: 'The problem of the machine, if it has one' }),
  })
  .meta({ id: 'MachineStatus' })
export type MachineStatus = z.infer<typeof MachineStatus>

/** Only `?force=true` forces; every other value counts as false. */
export const ForceQuery = z.object({
  force: z
    .string()
    .optional()
    .transform(text => text === 'true'),
})

export const AbsolutePath = z
  .string()
  .regex(/^\/[^\0]*$/, 'must be an absolute path')
  .max(4096)

const createMegabytesSchema = (max: number) =>
  z.int().min(1, 'must be at least 1 MB').max(max, `must be at most ${max} MB`).meta({ description: 'MB' })

/** Returns why an input is neither of the two kinds of disks. */
const describeDiskError = ({ input }: { readonly input?: unknown }): string => {
  const all = typeof input === 'object' && !Array.isArray(input) ? Object.keys(input ?? {}) : []
  const members = all.filter(name => name !== 'bus')
  const others = members.filter(name => !['path', 'size', 'image'].includes(name))
  if (others.length > 0) return `${formatNames(others)}: not known here; a disk has a path, a size or an image`
  if (members.includes('path') && members.includes('image')) return 'has a path and an image, so leave one out'
  if (members.includes('path') && members.length > 1)
    return 'has a path and a size; an image that is used in place has its own size, so leave one out'
  return 'must have a path (absolute, of an existing file that is used in place), a size in MB (a new disk) or an image (a registered one)'
}

const createDiskSchema = <S extends z.core.$ZodLooseShape>(shape: S): z.ZodObject<S, z.core.$strict> =>
  z.strictObject(shape, { error: issue => (issue.code === 'unrecognized_keys' ? describeDiskError(issue) : undefined) })

const DiskBus = z
  .enum(['virtio', 'ide'])
  .optional()
  .meta({ description: 'The bus of the disk; virtio when left out. Guests without drivers for virtio need ide.' })

export const CreateMachine = knownObject('a machine', {
  name: MachineName,
  ...imageMembers,
  description: Description.default(''),
  cpus: z.int().min(1).max(bounds.cpus).default(1),
  memory: createMegabytesSchema(bounds.memory),
  disks: z
    .array(
      z.union(
        [
          createDiskSchema({ path: AbsolutePath, bus: DiskBus }),
          createDiskSchema({ size: createMegabytesSchema(bounds.diskSize / 2 ** 20), bus: DiskBus }),
          createDiskSchema({ ...diskOfImage, bus: DiskBus }),
        ],
        {
          error: describeDiskError,
        },
      ),
    )
    .max(bounds.disks)
    .default([]),
  kernel: AbsolutePath.optional(),
  initrd: AbsolutePath.optional(),
  cmdline: z.string().max(bounds.cmdline).optional(),
  ...networkMembers,
  ...lifecycleShape,
  ...createHardwareShape(AbsolutePath),
  ...cloudInitShape,
})
export type CreateMachine = z.infer<typeof CreateMachine>

export const CreatedMachine = z
  .object({
    id: z.string(),
    name: z.string(),
    owner: z.string(),
    current_state: z.enum(machineStates),
    network: z.string().optional().meta({ description: 'The mode of its network; left out without a network card' }),
    message: z.string().optional().meta({ description: 'What its network can reach' }),
    expires_at: z.string().optional().meta({ description: 'The time at which the service deletes the machine' }),
    until: z.enum(['met', 'timeout', 'stopped', 'gone']).optional().meta({
      description:
        'With the query `until`: whether the condition was met, or why the wait has ended before: the time was over, or the machine has stopped or was deleted',
    }),
    ip_configured: z
      .string()
      .optional()
      .meta({ description: 'With the query `until`: its first IP address; - without one' }),
  })
  .meta({ id: 'CreatedMachine' })
export type CreatedMachine = z.infer<typeof CreatedMachine>

/** What a create request waits for, after it has started the machine. */
export const CreateQuery = z.object({ until: z.string().max(520).optional() })

export const CloneMachine = z.object({
  clone_name: MachineName,
  snapshot: z.string().min(1).max(256).optional().meta({
    description:
      'UUID or name of a snapshot of the machine, or `@` and a moment, which is cloned in place of the present machine: its disks and its hardware of then, without memory. The machine may be in any state. Needs the right to list its snapshots too',
  }),
})
export const ClonedMachine = z
  .object({
    id: z.string(),
    status: z.literal('Success'),
    consistency: z.enum(['filesystem', 'crash']).optional().meta({
      description:
        'Of a clone of a running machine: filesystem if its guest wrote its caches to its disks for it, crash if the disks are as after a power cut',
    }),
  })
  .meta({ id: 'ClonedMachine' })

/** Clients send numbers and booleans where the spec has text. */
const Text = z.union([z.string(), z.number(), z.boolean()]).transform(String)

/** Clients send null for an empty list. */
const createListSchema = <T extends z.ZodType>(item: T) =>
  z
    .array(item)
    .nullish()
    .transform(list => list ?? [])

export const SetMachine = z.object({
  owner: z.string().optional(),
  operations: z
    .array(
      z.object({
        group: z.string().trim().min(1),
        operation: z.string().trim().min(1),
        value: Text.default(''),
        options: createListSchema(z.object({ flag: z.string(), value: Text.default('') })),
        flags: createListSchema(z.string()),
      }),
    )
    .min(1)
    .max(64),
})
export type SetMachine = z.infer<typeof SetMachine>

const SetOutcome = z.object({
  group: z.string(),
  operation: z.string(),
  status: z.enum(['Success', 'Error', 'Skipped']),
  error: z.string(),
  change: z
    .object({ field: z.string(), from: z.union([z.string(), z.number()]), to: z.union([z.string(), z.number()]) })
    .optional()
    .meta({ description: 'With dry_run: the value before and after the change' }),
  effect: z
    .enum(['now', 'at the next start'])
    .optional()
    .meta({ description: 'With dry_run: when the change takes effect' }),
})
export type SetOutcome = z.infer<typeof SetOutcome>

export const SetResult = z.object({ operations: z.array(SetOutcome) }).meta({ id: 'MachineSetResult' })
export type SetResult = z.infer<typeof SetResult>
