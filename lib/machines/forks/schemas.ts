import * as z from 'zod'
import { knownObject } from '#lib/access/known-members.ts'
import { lifecycleShape } from '../create/lifecycle.ts'
import { MachineName } from '../schemas.ts'
import { machineStates } from '../states.ts'

/** The most forks of one call. */
const maxCount = 64

const { labels, ephemeral, ttl } = lifecycleShape

export const ForkMachine = knownObject('a fork', {
  snapshot: z
    .string()
    .min(1)
    .max(256)
    .optional()
    .meta({
      description:
        'UUID or name of a snapshot of the machine, or `@` and a moment, which is forked in place of the present machine, in any state. ' +
        'Its forks go on with its memory; without memory they boot. Needs the right to list its snapshots too',
    }),
  count: z.int().min(1).max(maxCount).optional().meta({ description: 'The number of forks; 1 when left out' }),
  names: z.array(MachineName).min(1).max(maxCount).optional().meta({
    description: 'A name for each fork. Left out, they are that of the machine with `-fork-` and a number.',
  }),
  labels: labels.meta({ description: 'Labels of the forks, in addition to those of the machine' }),
  ephemeral,
  ttl: ttl.meta({ description: 'Seconds after which the service deletes the forks' }),
}).refine(
  ({ count, names }) => count === undefined || names === undefined || count === names.length,
  'count and names: there must be as many names as forks; leave count out',
)
export type ForkMachine = z.infer<typeof ForkMachine>

export const ForkedMachines = z
  .object({
    forks: z
      .array(
        z.object({
          id: z.string(),
          name: z.string(),
          current_state: z.enum(machineStates),
          expires_at: z.string().optional().meta({ description: 'The time at which the service deletes the fork' }),
        }),
      )
      .meta({ description: 'The forks, in the order of their names in the request' }),
    pending: z
      .array(z.enum(['mac_address', 'hostname', 'machine_id', 'random_numbers']))
      .meta({ description: 'What each guest takes over as soon as it answers; its cards are disconnected until then' }),
    unchanged: z
      .array(
        z.enum(['hostname', 'machine_id', 'host_keys', 'open_connections', 'secrets_in_memory', 'content_of_disks']),
      )
      .meta({ description: 'What the forks have in common with the machine, which is for their users to change' }),
  })
  .meta({ id: 'ForkedMachines' })
export type ForkedMachines = z.infer<typeof ForkedMachines>
