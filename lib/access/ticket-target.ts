/** Query parameters with credentials. They are no part of what a ticket is for. */
const credentials = ['ticket', 'access_token', 'authorization'] as const

/** Fills the parameters of a path: `/v1/machines/{id}` and `{ id: 'demo' }` give `/v1/machines/demo`. */
export const fillPath = (path: string, params: Readonly<Record<string, string>>): string =>
  path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? ''))

/** Formats what a ticket is for: the path and the query of a WebSocket, whatever the order and the escapes in the request. */
export const formatTicketTarget = (path: string, query: URLSearchParams): string => {
  const rest = new URLSearchParams(query)
  for (const name of credentials) rest.delete(name)
  rest.sort()
  const segments = path.split('/').map(segment => encodeURIComponent(decodeURIComponent(segment)))
  return `${segments.join('/')}?${rest}`
}
