import * as z from 'zod'
import { knownObject } from '#lib/access/known-members.ts'

/** The WebSockets that take tickets: each endpoint that takes its token from the query. */
const path = /^\/v1\/(?:machines\/[^/?#]+\/(?:console|screen|tunnel)|ws\/subscribe)(?:\?[^#]*)?$/

const hasValidEscapes = (text: string): boolean => {
  try {
    decodeURIComponent(text.replace(/\?.*/s, ''))
    return true
  } catch {
    return false
  }
}

export const CreateTicket = knownObject('a ticket', {
  path: z
    .string()
    .max(2048)
    .regex(path, 'must be the path of a WebSocket with its query, such as /v1/machines/demo/screen?view_only=true')
    .refine(hasValidEscapes, 'has an escape that is none')
    .meta({ description: 'Path of the WebSocket below /api, with its query' }),
})

export const IssuedTicket = z
  .object({
    ticket: z.string().meta({ description: 'Goes into the query of the WebSocket, as `ticket`' }),
    expires_at: z.iso.datetime().meta({ description: 'Thirty seconds from now' }),
  })
  .meta({ id: 'Ticket' })
export type IssuedTicket = z.infer<typeof IssuedTicket>
