import type { Principal } from '#lib/access/principal.ts'
import { ServiceError } from '#lib/errors.ts'
import type { CatalogService } from '#lib/objects/port/connection.ts'
import type { RemoteCatalogSession } from '#lib/remote-catalogs/session.ts'
import type { TransferContext } from './context.ts'

/**
 * The peer that the host part of a connection names. It decides by its own credentials what of it there is to see. Throws
 * `invalid` when there are none: no catalog lets just anybody in.
 */
export const peerOf = (
  { remote }: TransferContext,
  caller: Principal,
  service: CatalogService,
): RemoteCatalogSession => {
  const { url, username, password, apiKey } = service
  if (apiKey === undefined && (username === undefined || password === undefined))
    throw new ServiceError(
      'invalid',
      'The host of the connection needs a user and a password, as in host=USER:PASSWORD@https://NAME, or an API key in their place.',
    )
  const server = { name: new URL(url).host, url, username, password, api_key: apiKey }
  return { server, remote, caller, headers: {}, canSee: () => true }
}
