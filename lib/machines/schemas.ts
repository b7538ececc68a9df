import * as z from 'zod'
import type { Fault } from '#lib/errors.ts'
import { knownObject, formatNames } from '#lib/access/known-members.ts'
import { bounds } from '#lib/hypervisor/definition.ts'
import { machineStates } from './states.ts'

/** The faults of operations on machines that the hypervisor causes. */
export const hypervisorFaults = ['upstream', 'timeout'] as const satisfies readonly Fault[]

/** A machine's UUID or name in a path. */
export const MachineReference = z.object({ id: z.string().min(1).meta({ description: 'UUID or name, in any case' }) })

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

const AbsolutePath = z
  .string()
  .regex(/^\/[^\0]*$/, 'must be an absolute path')
  .max(4096)

const createMegabytesSchema = (max: number) =>
  z.int().min(1, 'must be at least 1 MB').max(max, `must be at most ${max} MB`).meta({ description: 'MB' })

/** Returns why an input is neither of the two kinds of disks. */
const describeDiskError = ({ input }: { readonly input?: unknown }): string => {
  const members = typeof input === 'object' && !Array.isArray(input) ? Object.keys(input ?? {}) : []
  const others = members.filter(name => name !== 'path' && name !== 'size')
  if (others.length > 0) return `${formatNames(others)}: not known here; a disk has a path or a size`
  if (members.length > 1)
    return 'has a path and a size; an image that is used in place has its own size, so leave one out'
  return 'must have a path (absolute, of an existing image that is used in place) or a size in MB (a new disk)'
}

const createDiskSchema = <S extends z.core.$ZodLooseShape>(shape: S): z.ZodObject<S, z.core.$strict> =>
  z.strictObject(shape, { error: issue => (issue.code === 'unrecognized_keys' ? describeDiskError(issue) : undefined) })

export const CreateMachine = knownObject('a machine', {
  name: MachineName,
  description: Description.default(''),
  cpus: z.int().min(1).max(bounds.cpus).default(1),
  memory: createMegabytesSchema(bounds.memory),
  disks: z
    .array(
      z.union(
        [
          createDiskSchema({ path: AbsolutePath }),
          createDiskSchema({ size: createMegabytesSchema(bounds.diskSize / 2 ** 20) }),
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
  })
  .meta({ id: 'CreatedMachine' })
export type CreatedMachine = z.infer<typeof CreatedMachine>

export const CloneMachine = z.object({ clone_name: MachineName })
export const ClonedMachine = z.object({ id: z.string(), status: z.literal('Success') }).meta({ id: 'ClonedMachine' })

/** Clients send numbers and booleans where the spec has text. */
const Text = z.union([z.string(), z.number(), z.boolean()]).transform(String)

export const SetMachine = z.object({
  owner: z.string().optional(),
  operations: z
    .array(
      z.object({
        group: z.string().trim().min(1),
        operation: z.string().trim().min(1),
        value: Text.default(''),
        options: z.array(z.object({ flag: z.string(), value: Text.default('') })).default([]),
        flags: z.array(z.string()).default([]),
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
})
export type SetOutcome = z.infer<typeof SetOutcome>

export const SetResult = z.object({ operations: z.array(SetOutcome) }).meta({ id: 'MachineSetResult' })
export type SetResult = z.infer<typeof SetResult>
