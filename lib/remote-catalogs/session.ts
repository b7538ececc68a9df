import type { Principal } from '#lib/access/principal.ts'
import { ServiceError } from '#lib/errors.ts'
import { type RemoteManifest, parseManifests } from './manifest-replies.ts'
import type { RemoteClient, RemoteRequest } from './remote-client.ts'
import type { RemoteServer } from './server.ts'

/** The catalog of another service, as somebody reaches it. */
export interface RemoteCatalogSession {
  readonly server: RemoteServer
  readonly remote: RemoteClient
  readonly caller: Principal
  /** Told with each request. */
  readonly headers: Readonly<Record<string, string>>
  /** What of it the caller may know of: who goes there with the credentials of others canSee no more than their own show. */
  readonly canSee: (manifest: RemoteManifest) => boolean
}

type Asked = Omit<RemoteRequest, 'caller'>

/** Asks a peer; throws what `Remote.ask` does. */
export const requestJson = (
  { remote, server, caller, headers }: RemoteCatalogSession,
  request: Asked,
): Promise<unknown> =>
  remote.requestJson(server, {
    ...request,
    waitsForSlot: true,
    caller: caller.id,
    headers: { ...headers, ...request.headers },
  })

/** The manifest of a reply. Throws `not-found` when there is none that the caller may know of. */
export const findVisibleManifest = ({ server, canSee }: RemoteCatalogSession, reply: unknown): RemoteManifest => {
  const found = parseManifests(reply).find(canSee)
  if (!found) throw new ServiceError('not-found', `The catalog of ${server.name} has no such manifest.`)
  return found
}
