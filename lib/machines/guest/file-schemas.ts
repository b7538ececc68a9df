import * as z from 'zod'
import { GuestPath } from './execute-schemas.ts'

const FilePath = GuestPath.meta({ description: 'Absolute path of the file in the guest' })

export const ReadFileQuery = z.object({ path: FilePath })

export const WriteFileQuery = z.object({
  path: FilePath,
  mode: z
    .string()
    .regex(/^[0-7]{3,4}$/, 'must be octal, such as 644')
    .optional()
    .meta({ description: 'Its rights, in octal; those of the file that it replaces when left out, else 644' }),
})
export type WriteFileQuery = z.infer<typeof WriteFileQuery>

export const WrittenFile = z
  .object({
    path: z.string().meta({ description: 'Absolute path of the file in the guest' }),
    size: z.int().meta({ description: 'Bytes' }),
    sha256: z.string().meta({ description: 'The SHA-256 of what was written, in hexadecimal digits' }),
  })
  .meta({ id: 'MachineWrittenFile' })
export type WrittenFile = z.infer<typeof WrittenFile>
