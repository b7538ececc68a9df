import type { RemoteServer } from './server.ts'

/** The URL of a path below `/api/v1` of a server. The server's URL may end with `/api` or `/api/v1` already. */
export const toServiceUrl = ({ url }: Pick<RemoteServer, 'url'>, path: string): URL => {
  const base = url.endsWith('/api/v1') ? url : url.endsWith('/api') ? `${url}/v1` : `${url}/api/v1`
  return new URL(base + path)
}
