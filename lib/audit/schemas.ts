import * as z from 'zod'
import { AuditEntry } from './entry.ts'

export const AuditRecord = AuditEntry.extend({ seq: z.int() }).meta({ id: 'AuditEntry' })
export type AuditRecord = z.infer<typeof AuditRecord>

const number = z.coerce.number().int()
const time = z.iso.datetime({ offset: true })

export const AuditQuery = z
  .object({
    limit: number.min(1).max(1000).default(100),
    before: number.min(1).optional().meta({ description: 'Entries with a smaller number, newest first' }),
    after: number.min(0).optional().meta({ description: 'Entries with a greater number, oldest first' }),
    user: z.string().optional().meta({ description: 'Id or name of the user' }),
    operation: z.string().optional().meta({ description: 'As `vmhost routes` names it; a prefix ends with *' }),
    outcome: z.enum(['done', 'refused', 'failed']).optional(),
    from: time.optional(),
    to: time.optional(),
  })
  .refine(({ before, after }) => before === undefined || after === undefined, 'take either before or after, not both')
export type AuditQuery = z.infer<typeof AuditQuery>

export const AuditPage = z
  .object({
    entries: z.array(AuditRecord),
    next: z.int().optional().meta({ description: 'Number to continue from, as before or after; left out at the end' }),
  })
  .meta({ id: 'AuditPage' })
export type AuditPage = z.infer<typeof AuditPage>
