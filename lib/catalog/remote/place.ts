import type { CatalogService } from '../connection.ts'
import type { RemoteServer } from './server.ts'

/** The server of a connection's host part. */
export const serverOf = ({ url, username, password, apiKey }: CatalogService): RemoteServer => ({
  name: new URL(url).host,
  url,
  username,
  password,
  api_key: apiKey,
})

/** Where a manifest is on another service, below its `/api/v1`. */
export const catalogPath = (...parts: readonly string[]): string =>
  ['/catalog', ...parts.map(part => encodeURIComponent(part.toWellFormed()))].join('/')
