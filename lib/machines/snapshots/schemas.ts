import * as z from 'zod'
import { knownObject } from '#lib/access/known-members.ts'
import { MachineReference } from '../reference.ts'
import { Description } from '../schemas.ts'

/** A valid name of a snapshot: no control characters, no path separators, no surrounding blanks, neither a UUID nor a moment. */
export const SnapshotName = z
  .string()
  .trim()
  .min(1)
  .max(128)
  .regex(/^[^\p{C}/\\]+$/u, 'must not contain control characters, / or \\')
  .refine(name => !name.startsWith('@'), 'must not begin with @, which names a moment')
  .refine(name => !/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(name), 'must not look like a UUID')

export const CreateSnapshot = knownObject('a snapshot', {
  snapshot_name: SnapshotName.optional().meta({
    description: 'Unique among the snapshots of the machine, in any case; Snapshot 1, … when left out',
  }),
  snapshot_description: Description.default(''),
  memory: z.boolean().default(true).meta({
    description:
      'Whether the memory of a running or paused machine is saved too. Without it the snapshot starts as after a power cut',
  }),
}).prefault({})
export type CreateSnapshot = z.infer<typeof CreateSnapshot>

export const CreatedSnapshot = z
  .object({ snapshot_name: z.string(), snapshot_id: z.uuid() })
  .meta({ id: 'CreatedSnapshot' })
export type CreatedSnapshot = z.infer<typeof CreatedSnapshot>

export const UpdateSnapshot = knownObject('a change of a snapshot', {
  snapshot_name: SnapshotName.optional(),
  snapshot_description: Description.optional(),
}).refine(change => Object.values(change).some(value => value !== undefined), 'must have a name or a description')
export type UpdateSnapshot = z.infer<typeof UpdateSnapshot>

export const RevertToSnapshot = knownObject('a revert', {
  skip_resume: z.boolean().default(false).meta({
    description: 'true: a machine whose memory is in the snapshot is suspended afterwards, and does not run',
  }),
}).prefault({})

export const DeleteSnapshot = knownObject('a deletion', {
  delete_children: z.boolean().default(false).meta({
    description: 'true: the snapshots that were made after this one, on top of it, are deleted too',
  }),
}).prefault({})

/** A snapshot as replies have it. */
export const SnapshotRecord = z
  .object({
    id: z.uuid(),
    name: z.string(),
    description: z.string(),
    date: z.string().meta({ description: 'Time of creation in UTC, as YYYY-MM-DD hh:mm:ss' }),
    created_at: z.string(),
    state: z.enum(['poweron', 'pause', 'suspend', 'poweroff']).meta({
      description: 'The state that a revert leads to: running, paused, suspended, or stopped without memory',
    }),
    current: z.boolean().meta({ description: 'Whether the machine was last on this snapshot' }),
    parent: z
      .string()
      .meta({ description: 'Id of the snapshot that the machine was on before; empty for a first one' }),
    size: z.int().meta({ description: 'Bytes that the snapshot took of the host when it was made' }),
    schedule: z.string().optional().meta({
      description: 'Name of the schedule that has made the snapshot, whose rules may delete it; left out for others',
    }),
  })
  .meta({ id: 'Snapshot' })
export type SnapshotRecord = z.infer<typeof SnapshotRecord>

export interface SnapshotNode extends SnapshotRecord {
  readonly children?: SnapshotNode[] | undefined
}

/** A snapshot with those that were made on top of it. */
export const SnapshotNode: z.ZodType<SnapshotNode> = SnapshotRecord.extend({
  get children() {
    return z.array(SnapshotNode).optional()
  },
}).meta({ id: 'SnapshotNode' })

export const SnapshotList = z.object({ snapshots: z.array(SnapshotNode) }).meta({ id: 'SnapshotList' })

/** The path of a snapshot. */
export const SnapshotReference = MachineReference.extend({
  snapshot: z.string().min(1).meta({
    description:
      'UUID or name of the snapshot, in any case. To read and to revert also `@` and a moment (`@2026-11-23T14:03:20Z`, `@14:03:20`): the newest one made until then',
  }),
})
