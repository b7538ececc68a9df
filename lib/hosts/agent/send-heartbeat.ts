import { toServedPath } from '#lib/calls/paths.ts'
import { messageOf } from '#lib/errors.ts'
import { HeartbeatReply, hostKeyHeader } from '../heartbeat-schemas.ts'
import { parseHostKey } from '../host-key.ts'
import type { SendHeartbeat } from './agent.ts'

interface Options {
  readonly controlUrl: string
  readonly key: string
  readonly fetch: (url: string, init: RequestInit) => Promise<Response>
}

/** Milliseconds that the control has for its reply. */
const timeout = 20_000

/** Node says only "fetch failed"; the cause has the reason. */
const explain = (error: unknown): string =>
  error instanceof Error && error.cause !== undefined ? messageOf(error.cause) : messageOf(error)

const readMessage = async (response: Response): Promise<string> => {
  const body: { message?: unknown } = Object(await response.json().catch(() => undefined))
  return typeof body.message === 'string' ? body.message : 'no reason was given'
}

/** Creates the function that sends heartbeats with the key of this host. */
export const createSendHeartbeat = ({ controlUrl, key, fetch }: Options): SendHeartbeat => {
  // The setting `control_key` has passed the same pattern.
  const url = `${controlUrl}${toServedPath(`/v1/hosts/${parseHostKey(key)!.hostId}/heartbeat`)}`
  return async (heartbeat, signal) => {
    const response = await fetch(url, {
      method: 'PUT',
      headers: { 'Content-Type': 'application/json', [hostKeyHeader]: key },
      body: JSON.stringify(heartbeat),
      redirect: 'manual',
      signal: AbortSignal.any([signal, AbortSignal.timeout(timeout)]),
    }).catch((error: unknown) => {
      throw new Error(`${controlUrl} does not answer: ${explain(error)}`, { cause: error })
    })
    if (response.status !== 200)
      throw new Error(`${controlUrl} answered ${response.status}: ${await readMessage(response)}`)
    return HeartbeatReply.parse(await response.json())
  }
}
