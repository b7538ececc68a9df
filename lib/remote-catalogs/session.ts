import type { Principal } from '#lib/access/principal.ts'
import { ServiceError } from '#lib/errors.ts'
import { parseManifests, type RemoteManifest } from './manifest-replies.ts'
import type { RemoteClient, RemoteRequest } from './remote-client.ts'
import type { RemoteServer } from './server.ts'

/** Access of a caller to the catalog of another service. */
export interface RemoteCatalogSession {
  readonly server: RemoteServer
  readonly remote: RemoteClient
  readonly caller: Principal
  /** Headers of each request. */
  readonly headers: Readonly<Record<string, string>>
  /** Whether the caller may see a manifest. A caller with the credentials of somebody else sees only what the caller's own rights show. */
  readonly canSee: (manifest: RemoteManifest) => boolean
}

type SessionRequest = Omit<RemoteRequest, 'caller'>

/** Sends a request to the service of a session, and gives the reply as data. Throws what `RemoteClient.requestJson` throws. */
export const requestJson = (
  { remote, server, caller, headers }: RemoteCatalogSession,
  request: SessionRequest,
): Promise<unknown> =>
  remote.requestJson(server, {
    ...request,
    waitsForSlot: true,
    caller: caller.id,
    headers: { ...headers, ...request.headers },
  })

/** Finds the first manifest of a reply that the caller may see. Throws `not-found` when there is none. */
export const findVisibleManifest = ({ server, canSee }: RemoteCatalogSession, reply: unknown): RemoteManifest => {
  const found = parseManifests(reply).find(canSee)
  if (!found) throw new ServiceError('not-found', `The catalog of ${server.name} has no such manifest.`)
  return found
}
