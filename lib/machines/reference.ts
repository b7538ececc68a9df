import * as z from 'zod'

/** A machine's UUID or name in a path. */
export const MachineReference = z.object({ id: z.string().min(1).meta({ description: 'UUID or name, in any case' }) })
