import * as z from 'zod'

/** What a deletion answers: the service error's shape (spec section 4) with a code that says success. */
export const Accepted = z.object({ code: z.literal(202), message: z.string() }).meta({ id: 'Accepted' })

/** The reply of a deletion that is done; `message` says what was deleted. */
export const accepted = (message: string): z.infer<typeof Accepted> => ({ code: 202, message })
