import type { Principal } from '#lib/access/principal.ts'
import { ServiceError } from '#lib/errors.ts'
import type { CatalogService } from '#lib/objects/port/connection.ts'
import type { RemoteCatalogSession } from '#lib/remote-catalogs/session.ts'
import type { TransferContext } from './context.ts'

/**
 * Opens a session with the host of a connection. The caller sees everything there that the credentials of the connection
 * allow. Throws `invalid` when there are none, because no catalog is open to everybody.
 */
export const openRemoteSession = (
  { remote }: TransferContext,
  caller: Principal,
  { url, username, password, apiKey }: CatalogService,
): RemoteCatalogSession => {
  if (apiKey === undefined && (username === undefined || password === undefined))
    throw new ServiceError(
      'invalid',
      'The host of the connection needs a user and a password, as in host=USER:PASSWORD@https://NAME, or an API key in their place.',
    )
  const server = { name: new URL(url).host, url, username, password, api_key: apiKey }
  return { server, remote, caller, headers: {}, canSee: () => true }
}
