import * as z from 'zod'
import { toFault } from '#lib/calls/statuses.ts'
import { ServiceError } from '#lib/errors.ts'

const Refusal = z.object({ message: z.string() })

/** Returns the message of a refusal, or its whole body if that is not a refusal of a service. */
const readMessage = (body: string): string => {
  try {
    return Refusal.parse(JSON.parse(body)).message
  } catch {
    return body
  }
}

/** The error that a service has answered with: the fault of its status, and its message. */
export const toRefusal = (status: number, body: string): ServiceError =>
  new ServiceError(toFault(status), readMessage(body))
