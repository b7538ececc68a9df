import * as z from 'zod'

/** The longest pattern of a search. */
const maxPatternLength = 512

// The descriptions for the OpenAPI document are in functions/wait-glossary.ts, which the edge does not load at its start.

export const ConsoleQuery = z
  .object({
    follow: z.enum(['true', 'false']).default('true'),
    offset: z.coerce.number().int().min(Number.MIN_SAFE_INTEGER).max(Number.MAX_SAFE_INTEGER).default(0),
    writer: z.enum(['claim', 'take-over']).optional(),
    search: z.string().min(1).max(maxPatternLength).optional(),
  })
  .refine(({ follow, search }) => follow === 'false' || search === undefined, {
    path: ['search'],
    message: 'must come with follow=false',
  })
  .refine(({ follow, writer }) => follow === 'true' || writer === undefined, {
    path: ['writer'],
    message: 'needs a WebSocket, so leave follow=false out',
  })
export type ConsoleQuery = z.infer<typeof ConsoleQuery>

/** Whether a request for a console is answered with text instead of a WebSocket. */
export const isForText = ({ follow }: ConsoleQuery): boolean => follow === 'false'
