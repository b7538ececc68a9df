import * as z from 'zod'
import { machineStates } from '../states.ts'

/** Seconds: proxies and clients give up on longer requests. */
const longestWait = 300

// The descriptions for the OpenAPI document are in functions/wait-glossary.ts, which the edge does not load at its start.

export const WaitQuery = z.object({
  for: z.string().max(520),
  timeout: z.coerce.number().min(0).max(longestWait).default(60),
  cursor: z.string().max(64).optional(),
})
export type WaitQuery = z.infer<typeof WaitQuery>

export const WaitReply = z
  .object({
    id: z.string(),
    result: z.enum(['met', 'timeout', 'stopped', 'gone']),
    current_state: z.enum(machineStates).optional(),
    ip_configured: z.string(),
    cursor: z.string().optional(),
    gap: z.literal(true).optional(),
  })
  .meta({ id: 'MachineWait' })
export type WaitReply = z.infer<typeof WaitReply>
