/** CORS (fetch standard): tells browsers which pages of other sites may call this service. */
export interface Cors {
  allows(origin: string): boolean
  /** The reply to a preflight request; undefined for any other request. `methods` gives the methods of the path. */
  preflight(request: Request, methods: () => readonly string[]): Response | undefined
  /** Adds the CORS headers that let a page of this origin read the reply. */
  addHeaders(origin: string | null, headers: Record<string, string>): void
}

const allowedHeaders =
  'authorization, x-api-key, x-filter, content-type, if-match, if-none-match, prefer, idempotency-key, last-event-id'
const exposedHeaders = 'ETag, Link, Location, Retry-After, X-Request-Id'

/** `origins` are the allowed ones, such as https://ui.example.org, or `*` for all. */
export const createCors = (origins: readonly string[]): Cors => {
  const allowsAll = origins.includes('*')
  const allowedOrigins = new Set(origins)
  const allows = (origin: string): boolean => allowsAll || allowedOrigins.has(origin)
  const findAllowedOrigin = (origin: string | null): string | undefined =>
    origin !== null && allows(origin) ? (allowsAll ? '*' : origin) : undefined
  return {
    allows,
    preflight(request, methods) {
      if (request.method !== 'OPTIONS' || !request.headers.has('access-control-request-method')) return undefined
      const origin = findAllowedOrigin(request.headers.get('origin'))
      // Without the CORS headers the browser refuses the call.
      if (origin === undefined) return new Response(null, { status: 204, headers: { Vary: 'Origin' } })
      return new Response(null, {
        status: 204,
        headers: {
          'Access-Control-Allow-Origin': origin,
          'Access-Control-Allow-Methods': methods().join(', '),
          'Access-Control-Allow-Headers': allowedHeaders,
          'Access-Control-Max-Age': '600',
          Vary: 'Origin',
        },
      })
    },
    addHeaders(from, headers) {
      headers['Vary'] = headers['Vary'] === undefined ? 'Origin' : `${headers['Vary']}, Origin`
      const origin = findAllowedOrigin(from)
      if (origin === undefined) return
      headers['Access-Control-Allow-Origin'] = origin
      headers['Access-Control-Expose-Headers'] = exposedHeaders
    },
  }
}
