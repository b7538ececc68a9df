import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { http, passthrough } from 'msw'
import type { SetupServer } from 'msw/node'
import { createOutgoing } from '#lib/platform/outgoing.ts'
import type { SendOutgoing } from '#lib/platform/outgoing-request.ts'
import { test as base } from '../../support/harness.ts'

export interface Seen {
  readonly method: string
  readonly url: string
  readonly headers: IncomingHttpHeaders
  readonly body: unknown
}

interface Manifest {
  readonly catalog_id: string
  readonly version: string
  readonly architecture: string
  readonly required_claims?: readonly string[]
  readonly required_roles?: readonly string[]
}

export const apiKey = 'a2V5OnNlY3JldA=='
export const password = 'Remote-Horse-1-Battery'

/** The catalog of another host. It checks credentials, and everybody with credentials has all rights. */
export interface RemoteCatalog extends AsyncDisposable {
  readonly url: string
  /** All requests without the sign-ins. */
  readonly seen: Seen[]
  readonly signIns: unknown[]
  manifests: Manifest[]
  /** Groups lists by catalog id and sends one manifest as an object, as some services do. */
  grouped: boolean
  /** Answers an authenticated request for the test; false leaves it to the catalog. */
  answers: (request: IncomingMessage, response: ServerResponse) => boolean
  /** Invalidates all tokens. */
  endTokens(): void
}

export const startRemoteCatalog = async (): Promise<RemoteCatalog> => {
  const tokens = new Set<string>()
  const signIns: unknown[] = []
  const seen: Seen[] = []

  const answer = (remote: RemoteCatalog, request: Seen): { status: number; body?: unknown } => {
    const [, id, version, architecture, action] = new URL(request.url, 'http://x').pathname
      .replace(/^\/api\/v1\/catalog\/?/, '/')
      .split('/')
      .map(part => decodeURIComponent(part).toLowerCase())
    const inPlace = (one: Manifest): boolean =>
      (!id || one.catalog_id.toLowerCase() === id) &&
      (!version || one.version === version) &&
      (!architecture || one.architecture === architecture)
    const found = remote.manifests.filter(inPlace)
    if (request.method === 'POST') {
      remote.manifests.push(request.body as Manifest)
      return { status: 200, body: [request.body] }
    }
    if (request.method === 'PUT' && id?.startsWith('import')) {
      const { catalog_id } = request.body as Manifest
      return {
        status: 200,
        body: { id: 'new', local_path: '', machine_name: '', manifest: { catalog_id, required_claims: ['HIDDEN'] } },
      }
    }
    if (id && found.length === 0) return { status: 404, body: { code: 404, message: 'catalog manifest not found' } }
    if (request.method === 'DELETE' && !action) {
      remote.manifests = remote.manifests.filter(one => !inPlace(one))
      return { status: 202 }
    }
    if (action === 'download' && id === 'tainted')
      return { status: 400, body: { code: 400, message: 'Manifest is tainted' } }
    if (!remote.grouped) return { status: 200, body: found }
    return {
      status: 200,
      body: architecture
        ? found[0]
        : [...Map.groupBy(found, one => one.catalog_id)].map(([key, all]) => ({ [key]: all })),
    }
  }

  const server = createServer((request, response) => {
    void (async () => {
      const body = await json(request).catch(() => undefined)
      const { method = '', url = '', headers } = request
      const send = (status: number, reply?: unknown): void => {
        response.writeHead(status, { 'Content-Type': 'application/json' }).end(reply && JSON.stringify(reply))
      }
      if (url === '/api/v1/auth/token') {
        signIns.push(body)
        if ((body as { password?: string }).password !== password) return send(401, { code: 401, message: 'no' })
        const token = `token-${signIns.length}`
        tokens.add(token)
        return send(200, { email: 'me', token, expires_at: Math.round(Date.now() / 1000) + 3600 })
      }
      seen.push({ method, url, headers, body })
      const bearer = /^Bearer (.*)$/.exec(headers.authorization ?? '')?.[1] ?? ''
      if (headers['x-api-key'] !== apiKey && !tokens.has(bearer))
        return send(401, { code: 401, message: 'invalid token' })
      if (remote.answers(request, response)) return
      const reply = answer(remote, { method, url, headers, body })
      send(reply.status, reply.body)
    })()
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const remote: RemoteCatalog = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    signIns,
    manifests: [],
    grouped: false,
    answers: () => false,
    endTokens: () => tokens.clear(),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise(resolve => server.close(resolve))
    },
  }
  return remote
}

/** Makes the mocked network forward requests to a server of the test. */
export const letThrough = (network: SetupServer, { url }: { url: string }): void =>
  network.use(http.all(`${url}/*`, () => passthrough()))

/** The addresses of host names of the tests. */
const resolve: NonNullable<Parameters<typeof createOutgoing>[0]['resolve']> = async host => {
  const addresses = { 'peer.example.test': '8.8.8.8', 'inside.example.test': '10.0.0.1' } as Record<string, string>
  const address = addresses[host]
  if (address) return [{ address, family: 4 }]
  throw Object.assign(new Error(`getaddrinfo ENOTFOUND ${host}`), { code: 'ENOTFOUND' })
}

/** `test` with the catalog of another host, which listens on this one. */
export const test = base.extend<{ remote: RemoteCatalog; outgoing: SendOutgoing }>({
  // oxlint-disable-next-line no-empty-pattern -- vitest reads the fixtures that are used off the pattern
  outgoing: async ({}, use) => use(createOutgoing({ allowed: ['127.0.0.1'], resolve })),
  remote: async ({ network }, use) => {
    await using remote = await startRemoteCatalog()
    letThrough(network, remote)
    await use(remote)
  },
})
