import type { RemoteServer } from './server.ts'

/** Where a path below `/api/v1` is of a server; its url may end with that already. */
export const toServiceUrl = ({ url }: Pick<RemoteServer, 'url'>, path: string): URL => {
  const base = url.endsWith('/api/v1') ? url : url.endsWith('/api') ? `${url}/v1` : `${url}/api/v1`
  return new URL(base + path)
}
