import * as z from 'zod'
import { parseCursor } from '../cursor.ts'

const Confirmation = z.object({ event_type: z.literal('system'), message: z.literal('confirm'), id: z.string() })

/**
 * The number of the event that a message confirms: `{"event_type":"system","message":"confirm","id":CURSOR}` tells that the
 * client has read everything up to this cursor. Undefined for any other message.
 */
export const parseConfirmation = (text: string): number | undefined => {
  try {
    return parseCursor(Confirmation.parse(JSON.parse(text)).id).seq
  } catch {
    return undefined
  }
}
