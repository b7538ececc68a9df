import * as z from 'zod'

// The descriptions for the OpenAPI document are in functions/wait-glossary.ts, which the edge does not load at its start.

export const ScreenQuery = z.object({ view_only: z.enum(['true', 'false']).default('false') })
export type ScreenQuery = z.infer<typeof ScreenQuery>
