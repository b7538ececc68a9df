import type { VmhostError as Refusal } from './types.ts'

/** The members of an error reply that are read here; a proxy may have answered with anything else. */
interface Problem {
  readonly code?: number
  readonly message?: string
  readonly stack?: Refusal['details']
}

/** A refusal of the service, or the failure of a job. */
export class VmhostError extends Error implements Refusal {
  declare readonly status: number
  declare readonly code: number
  declare readonly details: Refusal['details']
  declare readonly body: unknown
  declare readonly headers: Headers

  constructor(status: number, body?: unknown, headers = new Headers()) {
    const { code = status, message = `The service answered with ${status}.`, stack = [] } = (body ?? {}) as Problem
    super(message)
    Object.assign(this, { name: 'VmhostError', status, code, details: stack, body, headers })
  }
}

/** The response if it is a success. Throws its error otherwise. */
export const expectSuccess = async (sent: Promise<Response>): Promise<Response> => {
  const response = await sent
  if (response.ok) return response
  const text = await response.text()
  let body: unknown = text
  try {
    body = JSON.parse(text)
  } catch {
    // It is not JSON, so a proxy answered.
  }
  throw new VmhostError(response.status, body, response.headers)
}
