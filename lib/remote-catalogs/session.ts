import type { Principal } from '#lib/access/principal.ts'
import { ServiceError } from '#lib/errors.ts'
import { type Manifest, manifestsIn } from './manifest-replies.ts'
import type { Remote, RemoteRequest } from './remote-client.ts'
import type { RemoteServer } from './server.ts'

/** The catalog of another service, as somebody reaches it. */
export interface Peer {
  readonly server: RemoteServer
  readonly remote: Remote
  readonly caller: Principal
  /** Told with each request. */
  readonly headers: Readonly<Record<string, string>>
  /** What of it the caller may know of: who goes there with the credentials of others sees no more than their own show. */
  readonly sees: (manifest: Manifest) => boolean
}

type Asked = Omit<RemoteRequest, 'caller'>

/** Asks a peer; throws what `Remote.ask` does. */
export const askPeer = ({ remote, server, caller, headers }: Peer, request: Asked): Promise<unknown> =>
  remote.ask(server, { ...request, waits: true, caller: caller.id, headers: { ...headers, ...request.headers } })

/** The manifest of a reply. Throws `not-found` when there is none that the caller may know of. */
export const seenManifest = ({ server, sees }: Peer, reply: unknown): Manifest => {
  const found = manifestsIn(reply).find(sees)
  if (!found) throw new ServiceError('not-found', `The catalog of ${server.name} has no such manifest.`)
  return found
}
