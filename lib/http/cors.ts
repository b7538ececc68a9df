/** Answers browsers that ask, for a page of another site, whether it may speak to this service (fetch standard, CORS). */
export interface Cors {
  allows(origin: string): boolean
  /** The reply to a preflight; undefined for a request that is none. `methods` looks up what the path serves. */
  preflight(request: Request, methods: () => readonly string[]): Response | undefined
  /** Marks the reply to a request of such a page. */
  mark(request: Request, response: Response): void
}

const allowedHeaders =
  'authorization, x-api-key, x-filter, content-type, if-match, if-none-match, prefer, idempotency-key, last-event-id'
const exposedHeaders = 'ETag, Link, Location, Retry-After, X-Request-Id'

/** `origins`: those of the pages that may, such as https://ui.example.org, or `*` for all of them. */
export const createCors = (origins: readonly string[]): Cors => {
  const any = origins.includes('*')
  const known = new Set(origins)
  const allows = (origin: string): boolean => any || known.has(origin)
  const allowed = (request: Request): string | undefined => {
    const origin = request.headers.get('origin')
    return origin !== null && allows(origin) ? (any ? '*' : origin) : undefined
  }
  return {
    allows,
    preflight(request, methods) {
      if (request.method !== 'OPTIONS' || !request.headers.has('access-control-request-method')) return undefined
      const origin = allowed(request)
      // Without the headers the browser refuses for us.
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
    mark(request, response) {
      response.headers.append('Vary', 'Origin')
      const origin = allowed(request)
      if (origin === undefined) return
      response.headers.set('Access-Control-Allow-Origin', origin)
      response.headers.set('Access-Control-Expose-Headers', exposedHeaders)
    },
  }
}
