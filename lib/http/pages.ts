import { createErrorBody, toServiceError, toStatus } from '#lib/calls/statuses.ts'

/** A file of the web console. `body` is the content, compressed with gzip, as base64. */
export interface PageFile {
  readonly type: string
  readonly tag: string
  readonly body: string
}

/** The files of the web console by their paths. */
export type PageFiles = Readonly<Record<`/${string}`, PageFile>>

/** Answers a request for a page of the web console or a file of it; undefined for any other request. */
export type AnswerPage = (request: Request) => Promise<Response> | undefined

/**
 * A page loads nothing from elsewhere, runs no script but our files, and is in no frame. It has no style but those of our files; only a
 * single element may have a style of its own, as the terminal colours its text.
 */
const pageHeaders = {
  'Content-Security-Policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "style-src-attr 'unsafe-inline'",
    "img-src 'self' data: blob:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
} as const

/** The name of such a file has the digest of its content, so it never changes. */
const assets = '/assets/'

const toBytes = (base64: string): Uint8Array<ArrayBuffer> => Uint8Array.from(atob(base64), char => char.charCodeAt(0))

const isPagePath = (path: string): boolean => path === '/' || /^\/(?:docs(?:$|\/)|assets\/)/.test(path)

/** Whether a client takes compressed content. */
const acceptsGzip = (header: string | null): boolean => /\bgzip\b(?!\s*;\s*q=0(?:\.0+)?\s*(?:,|$))/i.test(header ?? '')

const createReply = (request: Request, path: string, { type, tag, body }: PageFile, headers: object): Response => {
  const etag = `"${tag}"`
  const ownHeaders = {
    ...pageHeaders,
    ...headers,
    'Content-Type': type,
    'Cache-Control': path.startsWith(assets) ? 'public, max-age=31536000, immutable' : 'no-cache',
    ETag: etag,
    Vary: 'Accept-Encoding',
  }
  if (request.headers.get('if-none-match')?.includes(etag))
    return new Response(null, { status: 304, headers: ownHeaders })
  const bytes = toBytes(body)
  if (acceptsGzip(request.headers.get('accept-encoding')))
    // `encodeBody` tells the runtime of the edge that the content is compressed already.
    return new Response(request.method === 'HEAD' ? null : bytes, {
      headers: { ...ownHeaders, 'Content-Encoding': 'gzip', 'Content-Length': String(bytes.length) },
      encodeBody: 'manual',
    } as ResponseInit)
  const plain = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'))
  return new Response(request.method === 'HEAD' ? null : plain, { headers: ownHeaders })
}

/**
 * Serves the pages: `/` and what is below `/docs` and `/assets/`. The files are read at the first request.
 * @param isServed tells whether this service has a use for a page
 * @param headers of every reply, in addition to those of pages
 */
export const createPages = (
  loadFiles: () => Promise<PageFiles>,
  isServed: (path: string) => boolean,
  headers: Readonly<Record<string, string>> = {},
): AnswerPage => {
  let files: Promise<PageFiles> | undefined
  const answer = async (request: Request, path: string): Promise<Response> => {
    try {
      files ??= loadFiles()
      const file = (await files)[path as '/']
      if (file) return createReply(request, path, file, headers)
      // An asset of an earlier version: the page that names it has to be loaded again.
      return Response.json(
        { code: 404, message: `There is nothing at ${path}.` },
        { status: 404, headers: pageHeaders },
      )
    } catch (error) {
      files = undefined
      const failure = toServiceError(error, crypto.randomUUID())
      return Response.json(createErrorBody(failure), { status: toStatus(failure.fault), headers: pageHeaders })
    }
  }
  return request => {
    if (request.method !== 'GET' && request.method !== 'HEAD') return undefined
    const { pathname } = new URL(request.url)
    return isPagePath(pathname) && isServed(pathname) ? answer(request, pathname) : undefined
  }
}
