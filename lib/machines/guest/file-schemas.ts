import * as z from 'zod'
import { GuestPath } from './execute-schemas.ts'

export const ReadFileQuery = z.object({ path: GuestPath })

export const WriteFileQuery = z.object({
  path: GuestPath,
  mode: z
    .string()
    .regex(/^[0-7]{3,4}$/, 'must be octal, such as 644')
    .optional()
    .meta({ description: 'Its rights, in octal; those of the file that it replaces when left out, else 644' }),
})
export type WriteFileQuery = z.infer<typeof WriteFileQuery>

export const WrittenFile = z
  .object({
    path: z.string(),
    size: z.int().meta({ description: 'Bytes' }),
    sha256: z.string().meta({ description: 'The SHA-256 of what was written, in hexadecimal digits' }),
  })
  .meta({ id: 'MachineWrittenFile' })
export type WrittenFile = z.infer<typeof WrittenFile>
