import type { Principal } from '#lib/auth/principal.ts'
import type { CatalogService } from '../connection.ts'
import type { Peer } from '../remote/peer.ts'
import type { TransferContext } from './context.ts'

/** The peer that the host part of a connection names. It decides by its own credentials what of it there is to see. */
export const peerOf = ({ remote }: TransferContext, caller: Principal, service: CatalogService): Peer => {
  const { url, username, password, apiKey } = service
  const server = { name: new URL(url).host, url, username, password, api_key: apiKey }
  return { server, remote, caller, headers: {}, sees: () => true }
}
