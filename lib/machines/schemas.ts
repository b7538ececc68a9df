import * as z from 'zod'
import { bounds } from '#lib/hypervisor/definition.ts'

/** A machine's UUID or name in a path. */
export const MachineReference = z.object({ id: z.string().min(1).meta({ description: 'UUID or name, in any case' }) })

/** A name that a machine can have: no control characters, no path separators, no blanks around it. */
export const MachineName = z
  .string('must be a text')
  .trim()
  .min(1, 'must not be empty')
  .max(128, 'must not be longer than 128 characters')
  .regex(/^[^\p{C}/\\]+$/u, 'must not contain control characters, / or \\')
  .refine(name => !/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(name), 'must not look like a UUID')

export const Description = z
  .string('must be a text')
  .max(bounds.description, `must not be longer than ${bounds.description} characters`)

export const OperationResult = z
  .object({ id: z.string(), operation: z.string(), status: z.string() })
  .meta({ id: 'MachineOperationResult' })
export type OperationResult = z.infer<typeof OperationResult>

export const MachineStatus = z
  .object({
    id: z.string(),
    status: z.string(),
    ip_configured: z.string().meta({ description: 'The first IP address, or - without one' }),
    problem: z.string().optional().meta({ description: 'What is wrong with the machine, if anything is' }),
  })
  .meta({ id: 'MachineStatus' })
export type MachineStatus = z.infer<typeof MachineStatus>

/** `?force=true`, exactly so; anything else does not force. */
export const ForceQuery = z.object({
  force: z
    .string()
    .optional()
    .transform(text => text === 'true'),
})

const AbsolutePath = z
  .string('must be a text')
  .regex(/^\/[^\0]*$/, 'must be an absolute path')
  .max(4096, 'must not be longer than 4096 characters')

export const CreateMachine = z.object({
  name: MachineName,
  description: Description.default(''),
  cpus: z.int('must be a whole number').min(1).max(bounds.cpus).default(1),
  memory: z.int('must be a whole number of MB').min(1).max(bounds.memory).meta({ description: 'MB' }),
  disks: z
    .array(
      z.union(
        [
          z.object({ path: AbsolutePath }),
          z.object({
            size: z
              .int()
              .min(1)
              .max(bounds.diskSize / 2 ** 20)
              .meta({ description: 'MB' }),
          }),
        ],
        'must have a path (an existing image, used in place) or a size in MB (a new disk)',
      ),
    )
    .max(bounds.disks, `must not have more than ${bounds.disks} entries`)
    .default([]),
  kernel: AbsolutePath.optional(),
  initrd: AbsolutePath.optional(),
  cmdline: z.string().max(bounds.cmdline).optional(),
})
export type CreateMachine = z.infer<typeof CreateMachine>

export const CreatedMachine = z
  .object({ id: z.string(), name: z.string(), owner: z.string(), current_state: z.string() })
  .meta({ id: 'CreatedMachine' })
export type CreatedMachine = z.infer<typeof CreatedMachine>

export const CloneMachine = z.object({ clone_name: MachineName })
export const ClonedMachine = z.object({ id: z.string(), status: z.string() }).meta({ id: 'ClonedMachine' })

/** Clients send numbers and booleans where the contract has text. */
const Text = z.union([z.string(), z.number(), z.boolean()]).transform(String)

export const SetMachine = z.object({
  owner: z.string().optional(),
  operations: z
    .array(
      z.object({
        group: z.string('must be a text').trim().min(1, 'must not be empty'),
        operation: z.string('must be a text').trim().min(1, 'must not be empty'),
        value: Text.default(''),
        options: z.array(z.object({ flag: z.string(), value: Text.default('') })).default([]),
        flags: z.array(z.string()).default([]),
      }),
    )
    .min(1, 'must not be empty')
    .max(64, 'must not have more than 64 entries'),
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
    .meta({ description: 'With dry_run: what would change' }),
})
export type SetOutcome = z.infer<typeof SetOutcome>

export const SetResult = z.object({ operations: z.array(SetOutcome) }).meta({ id: 'MachineSetResult' })
export type SetResult = z.infer<typeof SetResult>
