import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { describe, expect } from 'vitest'
import type { Call } from '../../support/harness.ts'
import { apiKey, type RemoteCatalog, test } from './remote-catalog.ts'
import { until } from '../../support/waiting.ts'

const me = { as: ['CATALOG_MANAGER_CREATE_OWN', 'CATALOG_MANAGER_LIST_CATALOG_MANIFEST_OWN'] }

const manifest = (version: string, more: object = {}) => ({
  catalog_id: 'OPEN',
  name: `open-${version}`,
  version,
  architecture: 'arm64',
  ...more,
})
const hidden = { required_claims: ['HIDDEN'] }

/** Creates a manager and gives the path of its catalog. */
const createCatalogPath = async (call: Call, { url }: RemoteCatalog): Promise<string> => {
  const { body } = await call('POST', '/api/v1/catalog-managers', { ...me, body: { name: 'QA', url, api_key: apiKey } })
  return `/api/v1/catalog-managers/${body.id}/catalog`
}

describe('pages of a remote catalog', () => {
  /** Makes the remote catalog send pages of two manifests, with links to the next page in this format. */
  const paged = (remote: RemoteCatalog, linkTo: (query: string) => string): void => {
    remote.manifests = ['1', '2', '3', '4', '5', '6', '7'].map(version =>
      manifest(version, /[2-5]/.test(version) ? hidden : {}),
    )
    remote.answers = ({ url = '' }, response) => {
      const query = new URL(url, 'http://x').searchParams
      if (!query.has('limit')) return false
      const at = Number(query.get('cursor') ?? 0)
      const more = at + 2 < remote.manifests.length
      response.writeHead(200, {
        'Content-Type': 'application/json',
        ...(more && { Link: linkTo(`limit=2&cursor=${at + 2}`) }),
      })
      response.end(JSON.stringify(remote.manifests.slice(at, at + 2)))
      return true
    }
  }

  test.for([
    ['absolute', (query: string) => `<http://inside.example.test/api/v1/catalog?${query}&access_token=x>; rel="next"`],
    ['relative', (query: string) => `</api/v1/catalog?${query}>; rel=next`],
    ['among others', (query: string) => `</first?cursor=0>; rel="first", <?${query}>; title="a"; rel="last next"`],
  ] as const)('are read through the manager; their links are %s', async ([, linkTo], { call, remote }) => {
    const path = await createCatalogPath(call, remote)
    paged(remote, linkTo)
    const pages: string[][] = []
    for (let next: string | undefined = `${path}?limit=2`; next !== undefined;) {
      const { status, body, headers } = await call('GET', next, me)
      expect(status).toBe(200)
      pages.push(body.map(({ version }: { version: string }) => version))
      const link: string | null = headers.get('link')
      if (pages.length < 4) expect(link).toBe(`<${path}?limit=2&cursor=${pages.length * 2}>; rel="next"`)
      next = link?.slice(1, link.indexOf('>'))
    }
    // Hidden manifests are left out; no visible one is missing or repeated.
    expect(pages).toEqual([['1'], [], ['6'], ['7']])
    const { body, headers } = await call('GET', `${path}?limit=2`, { ...me, headers: { 'x-filter': 'version=9' } })
    expect([body, headers.get('link')]).toEqual([[], `<${path}?limit=2&cursor=2>; rel="next"`])
  })

  test.for(['<?cursor=1>; rel="first"', '<?cursor=1>', 'next', '<http://[>; rel="next"'])(
    'without a link to the next one are the last: %s',
    async (link, { call, remote }) => {
      const path = await createCatalogPath(call, remote)
      paged(remote, () => link)
      expect((await call('GET', `${path}?limit=2`, me)).headers.get('link')).toBeNull()
    },
  )
})

describe('the bytes of a remote catalog', () => {
  const pack = randomBytes(9 * 1024 * 1024 + 5)

  /** Makes the remote catalog send the pack of version 1 in ranges. */
  const servePack = (remote: RemoteCatalog, etagOf: () => string = () => '"one"'): void => {
    remote.manifests = [manifest('1'), manifest('2', hidden)]
    remote.answers = ({ url = '', headers }, response) => {
      if (!url.includes('content=pack')) return false
      const etag = etagOf()
      const [, first, last] = /^bytes=(\d+)-(\d+)$/.exec(headers.range ?? '') ?? []
      const isPart = first !== undefined && [undefined, etag].includes(headers['if-range'] as string)
      const [start, end] = isPart ? [Number(first), Number(last) + 1] : [0, pack.length]
      response.writeHead(isPart ? 206 : 200, {
        'Content-Type': 'application/octet-stream',
        ETag: etag,
        ...(isPart && { 'Content-Range': `bytes ${start}-${end - 1}/${pack.length}` }),
      })
      response.end(pack.subarray(start, end))
      return true
    }
  }
  const at = (path: string, version = '1'): string => `${path}/open/${version}/arm64/download?content=pack`

  test('are forwarded whole or by range, in several requests', async ({ call, open, remote }) => {
    const path = await createCatalogPath(call, remote)
    servePack(remote)
    const whole = await open('GET', at(path), me)
    expect([whole.status, whole.headers.get('content-length'), whole.headers.get('etag')]).toEqual([
      200,
      String(pack.length),
      '"one"',
    ])
    expect(Buffer.from(await whole.arrayBuffer()).equals(pack)).toBe(true)
    const ranges = remote.seen.map(({ headers }) => headers.range).filter(range => range !== undefined)
    expect(ranges).toEqual(['bytes=0-0', 'bytes=0-4194303', 'bytes=4194304-8388607', 'bytes=8388608-9437188'])

    const part = await open('GET', at(path), {
      ...me,
      headers: { range: 'bytes=5000000-5000009', 'x-api-key': 'callers-own' },
    })
    expect([part.status, part.headers.get('content-range')]).toEqual([206, `bytes 5000000-5000009/${pack.length}`])
    expect(Buffer.from(await part.arrayBuffer()).equals(pack.subarray(5_000_000, 5_000_010))).toBe(true)
    expect((await call('GET', at(path), { ...me, headers: { range: 'bytes=99999999-' } })).status).toBe(416)
    expect(JSON.stringify(remote.seen)).not.toContain('callers-own')
  })

  test('of a hidden manifest are not requested', async ({ call, remote }) => {
    const path = await createCatalogPath(call, remote)
    servePack(remote)
    expect((await call('GET', at(path, '2'), me)).status).toBe(404)
    expect(remote.seen.some(({ url }) => url.includes('download'))).toBe(false)
  })

  test('are requested by the names of the visible manifest, not by a tag that may have moved', async ({
    call,
    remote,
  }) => {
    const path = await createCatalogPath(call, remote)
    servePack(remote)
    const content = remote.answers
    remote.answers = (request, response) => {
      if (!request.url!.endsWith('/open/latest/arm64')) return content(request, response)
      response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify([manifest('1')]))
      return true
    }
    expect((await call('GET', at(path, 'latest'), { ...me, headers: { range: 'bytes=0-9' } })).status).toBe(206)
    expect(remote.seen.at(-1)?.url).toContain('/OPEN/1/arm64/download?content=pack')
  })

  test('end with an error when the object was replaced', async ({ call, open, remote }) => {
    const path = await createCatalogPath(call, remote)
    let asked = 0
    servePack(remote, () => ((asked += 1) < 3 ? '"one"' : '"two"'))
    await expect((await open('GET', at(path), me)).arrayBuffer()).rejects.toThrow(/is larger than|terminated/)
  })

  test('of a catalog that does not send bytes are refused', async ({ call, remote }) => {
    const path = await createCatalogPath(call, remote)
    remote.manifests = [manifest('1')]
    expect(await call('GET', at(path), me)).toMatchObject({
      status: 502,
      body: { message: expect.stringContaining('pull') },
    })
  })

  test.for(['before they arrive', 'while they are read'] as const)(
    'are not requested any more when the caller disconnects %s',
    async (when, { call, open, remote }) => {
      const path = await createCatalogPath(call, remote)
      servePack(remote)
      const content = remote.answers
      const { promise: stuck, resolve } = Promise.withResolvers<[IncomingMessage, ServerResponse]>()
      remote.answers = (request, response) => {
        const { range } = request.headers
        if (range === (when === 'while they are read' ? 'bytes=4194304-8388607' : 'bytes=0-0')) {
          resolve([request, response])
          return true
        }
        return content(request, response)
      }
      const gone = new AbortController()
      const answer = open('GET', at(path), { ...me, signal: gone.signal })
      // Over a real connection nobody receives the error.
      const told = answer.catch(() => undefined)
      const reader = when === 'while they are read' ? (await answer).body!.getReader() : undefined
      await reader?.read()
      const [, response] = await stuck
      const closed = once(response, 'close')
      if (reader) await reader.cancel()
      else gone.abort()
      await closed
      if (!reader) expect((await told)?.status ?? 502).toBe(502)
      expect(response.writableEnded).toBe(false)
    },
  )

  test('can be read by a limited number of streams', async ({ call, open, remote }) => {
    const path = await createCatalogPath(call, remote)
    servePack(remote)
    const { answers } = remote
    const stuck = Promise.withResolvers<void>()
    remote.answers = (request, response) => {
      // The unread rest must be larger than the buffers of a connection.
      if (!request.headers.range?.startsWith('bytes=4194304-')) return answers(request, response)
      void stuck.promise.then(() => answers(request, response))
      return true
    }
    const opened = []
    for (let n = 0; n < 8; n += 1) opened.push(await open('GET', at(path), me))
    expect((await call('GET', at(path), me)).status).toBe(503)
    stuck.resolve()
    await Promise.all(opened.map(({ body }) => body!.cancel()))
    const part = { ...me, headers: { range: 'bytes=0-9' } }
    // Over a real connection the service notices the end of the reader a moment later.
    await until(async () => expect((await call('GET', at(path), part)).status).toBe(206))
  })
})
