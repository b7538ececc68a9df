import * as z from 'zod'
import { messageOf, ServiceError } from '#lib/errors.ts'
import { imageSizes } from './chunker.ts'

const Chunk = z.strictObject({
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  size: z.int().min(1).max(imageSizes.most),
})
const Zeros = z.strictObject({ zeros: z.int().min(1) })

/** Bytes of a file that are kept under the name of their SHA-256 (lower-case hex). */
export type Chunk = Readonly<z.infer<typeof Chunk>>

/** What a file consists of, in order; sizes are in bytes, `size` is that of the file. */
export interface ChunkList {
  readonly size: number
  readonly chunks: readonly (Chunk | Readonly<z.infer<typeof Zeros>>)[]
}

const ChunkListShape = z
  .strictObject({ size: z.int().min(0), chunks: z.array(z.union([Chunk, Zeros])) })
  .refine(
    ({ size, chunks }) => size === chunks.reduce((sum, one) => sum + ('zeros' in one ? one.zeros : one.size), 0),
    'the chunks together must be as large as the file',
  )
  .refine(
    ({ chunks }) => chunks.every((one, at) => !('zeros' in one && at > 0 && 'zeros' in chunks[at - 1]!)),
    'zeros after zeros must be one run',
  )

const invalid = (why: string): ServiceError => new ServiceError('invalid', `The list of chunks is not one: ${why}.`)

/** The text of a list: JSON with sorted keys and no spaces, one text for one list. */
export const encodeChunkList = ({ size, chunks }: ChunkList): string =>
  JSON.stringify({
    chunks: chunks.map(one => ('zeros' in one ? { zeros: one.zeros } : { sha256: one.sha256, size: one.size })),
    size,
  })

/** Reads the text of a list. Throws `invalid`, also for a text that `encodeChunkList` would not give. */
export const parseChunkList = (text: string): ChunkList => {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw invalid(messageOf(error))
  }
  const parsed = ChunkListShape.safeParse(value)
  if (!parsed.success) {
    const issue = parsed.error.issues[0]
    throw invalid(`${issue?.path.join('.') ?? ''} ${issue?.message ?? ''}`.trim())
  }
  if (encodeChunkList(parsed.data) !== text) throw invalid('its text is not the canonical one')
  return parsed.data
}
