import { createClient, VmhostError } from '#lib/client/client.ts'
import { messageOf } from '#lib/errors.ts'
import { HeartbeatReply, hostKeyHeader } from '../heartbeat-schemas.ts'
import { getHostIdOfKey } from '../host-key.ts'
import type { SendHeartbeat } from './agent.ts'

interface Options {
  readonly controlUrl: string
  readonly key: string
  readonly fetch: (url: string, init: RequestInit) => Promise<Response>
}

/** Milliseconds that the control has for its reply. */
const timeout = 20_000

const explain = (controlUrl: string, error: unknown): Error => {
  if (error instanceof VmhostError)
    return new Error(`${controlUrl} answered ${error.status}: ${error.message}`, { cause: error })
  // Node says only "fetch failed"; the cause has the reason.
  const reason = error instanceof Error && error.cause !== undefined ? error.cause : error
  return new Error(`${controlUrl} does not answer: ${messageOf(reason)}`, { cause: error })
}

/** Creates the function that sends heartbeats with the key of this host. The agent has its own pace of retries. */
export const createSendHeartbeat = ({ controlUrl, key, fetch }: Options): SendHeartbeat => {
  const { api } = createClient({ url: controlUrl, retries: 0, fetch })
  const params = { id: getHostIdOfKey(key) }
  const headers = { [hostKeyHeader]: key }
  return async (body, signal) => {
    const limited = AbortSignal.any([signal, AbortSignal.timeout(timeout)])
    const reply = await api.hosts.heartbeat({ params, headers, body, signal: limited }).catch((error: unknown) => {
      throw explain(controlUrl, error)
    })
    return HeartbeatReply.parse(reply)
  }
}
