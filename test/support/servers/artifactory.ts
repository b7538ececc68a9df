import { createHash } from 'node:crypto'
import { http, HttpResponse, type RequestHandler } from 'msw'
import { setupServer, type SetupServer } from 'msw/node'
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest'
import { createArtifactory } from '#lib/objects/artifactory/artifactory.ts'
import { createFetcher } from '#lib/objects/http/send.ts'
import type { Provider } from '#lib/objects/port/provider.ts'

export const url = 'https://packs.example.test'
/** Below it are the objects. */
export const root = `${url}/artifactory/generic/`
export const key = 'the-key-of-somebody'

const api = `${url}/artifactory/api/storage/generic`

export const hex = (kind: string, bytes: Buffer): string => createHash(kind).update(bytes).digest('hex')

/** The headers of an object. */
export const headersOf = (bytes: Buffer): Record<string, string> => ({
  'Content-Length': String(bytes.length),
  'Last-Modified': 'Sat, 21 Nov 2026 08:00:00 GMT',
  'X-Checksum-Md5': hex('md5', bytes),
  'X-Checksum-Sha256': hex('sha256', bytes),
})

/** An Artifactory of one repository in memory: what the provider asks, answered as its documentation says. */
export interface Artifactory {
  readonly network: SetupServer
  readonly objects: Map<string, Buffer>
  /** Requests for objects. */
  readonly seen: { readonly method: string; readonly path: string; readonly headers: Headers }[]
  /** Whether it has the list of files. */
  isPro: boolean
}

const empty = (status: number): Response => new HttpResponse(null, { status })

const list = ({ objects, isPro }: Artifactory, folder: string): Response => {
  if (!isPro) return empty(400)
  const files = [...objects].filter(([path]) => path.startsWith(folder))
  if (files.length === 0 && folder !== '') return empty(404)
  return HttpResponse.json({
    files: files.map(([path, bytes]) => ({
      uri: `/${path.slice(folder.length)}`,
      size: String(bytes.length),
      lastModified: '2026-11-21T08:00:00.000Z',
      folder: 'false',
      sha2: hex('sha256', bytes),
    })),
  })
}

const put = async ({ objects }: Artifactory, path: string, request: Request): Promise<Response> => {
  const said = request.headers.get('x-checksum-sha256')
  const known = [...objects.values()].find(bytes => hex('sha256', bytes) === said)
  if (request.headers.get('x-checksum-deploy') === 'true' && !known) return empty(404)
  const sent = known ?? (await request.arrayBuffer().then(Buffer.from, () => undefined))
  if (!sent) return HttpResponse.error()
  if (said !== null && hex('sha256', sent) !== said) return empty(409)
  objects.set(path, sent)
  return HttpResponse.json({ repo: 'generic' }, { status: 201 })
}

const get = (bytes: Buffer, range: string | null): Response => {
  const [, start, last] = /^bytes=(\d+)-(\d+)$/.exec(range ?? '') ?? []
  if (start === undefined) return new HttpResponse(new Uint8Array(bytes), { headers: headersOf(bytes) })
  const part = bytes.subarray(Number(start), Number(last) + 1)
  return new HttpResponse(new Uint8Array(part), {
    status: 206,
    headers: {
      'Content-Range': `bytes ${start}-${Number(start) + part.length - 1}/${bytes.length}`,
      'Content-Length': String(part.length),
    },
  })
}

const answer = async (server: Artifactory, request: Request): Promise<Response> => {
  const { objects, seen } = server
  const { method, headers } = request
  const path = decodeURIComponent(new URL(request.url).pathname.split('/generic/')[1]!)
  seen.push({ method, path, headers })
  if (method === 'PUT') return put(server, path, request)
  const bytes = objects.get(path)
  const inside = [...objects.keys()].filter(other => other.startsWith(`${path}/`))
  if (method === 'DELETE') {
    for (const other of [path, ...inside]) objects.delete(other)
    return empty(bytes || inside.length > 0 ? 204 : 404)
  }
  // Folders have pages.
  if (inside.length > 0) return new HttpResponse('<html>', { headers: { 'Content-Length': '6' } })
  if (!bytes) return empty(404)
  return method === 'HEAD' ? new HttpResponse(null, { headers: headersOf(bytes) }) : get(bytes, headers.get('range'))
}

/** One for all tests of a file, which begin with it empty; what a test changes of `network` is undone after it. */
export const useArtifactory = (): Artifactory => {
  const handlers: RequestHandler[] = [
    http.get(api, ({ request }) =>
      new URL(request.url).searchParams.has('list') ? list(server, '') : HttpResponse.json({ repo: 'generic' }),
    ),
    http.get(`${api}/*`, ({ request }) =>
      list(server, `${decodeURIComponent(new URL(request.url).pathname.split('/generic/')[1]!)}/`),
    ),
    http.all(`${root}*`, ({ request }) => answer(server, request)),
  ]
  const server: Artifactory = { network: setupServer(...handlers), objects: new Map(), seen: [], isPro: true }
  beforeAll(() => server.network.listen({ onUnhandledFrame: 'error' }))
  afterEach(() => server.network.resetHandlers())
  afterAll(() => server.network.close())
  beforeEach(() => {
    server.objects.clear()
    server.seen.length = 0
    server.isPro = true
  })
  return server
}

/** A provider on it. `idleTimeout`: milliseconds; long, where no test is about it, for the machine may be busy. */
export const openArtifactory = (
  meta: Readonly<Record<string, string>> = { access_key: key },
  idleTimeout = 20_000,
): Promise<Provider> =>
  createArtifactory({ type: 'artifactory', meta: { url, repo: 'generic', ...meta } }, createFetcher({ idleTimeout }))
