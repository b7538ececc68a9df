import * as z from 'zod'

/** The reply of a deletion: the shape of a service error (spec section 4) with a code that says success. */
export const DeletionReply = z.object({ code: z.literal(202), message: z.string() }).meta({ id: 'Accepted' })

/** Makes the reply of a finished deletion; `message` says what was deleted. */
export const confirmDeletion = (message: string): z.infer<typeof DeletionReply> => ({ code: 202, message })
