import { VmhostError } from '#lib/client/error.ts'

/** The error that a service has answered a WebSocket with: its JSON, or its whole body if a proxy has answered. */
export const toRefusal = (status: number, body: string): VmhostError => {
  try {
    return new VmhostError(status, JSON.parse(body))
  } catch {
    return new VmhostError(status, { message: body })
  }
}
