import { describe, expect, vi } from 'vitest'
import { createVisibilityCheck } from '#lib/catalog/visibility.ts'
import type { RemoteManifest } from '#lib/remote-catalogs/manifest-replies.ts'
import type { Answer, Call } from '../../support/harness.ts'
import { apiKey, password, test } from './remote-catalog.ts'

const everything = [
  ...['LIST', 'CREATE', 'UPDATE', 'DELETE', 'PULL', 'PUSH', 'IMPORT'].map(
    action => `CATALOG_MANAGER_${action}_CATALOG_MANIFEST_OWN`,
  ),
  'CATALOG_MANAGER_CREATE_OWN',
  'CATALOG_MANAGER_UPDATE_OWN',
]
const me = { as: everything }
const root = { as: ['*'] }

const manifest = (catalog_id: string, version = '1', more: object = {}, architecture = 'arm64') => ({
  catalog_id,
  name: `${catalog_id}-${architecture}-${version}`.toLowerCase(),
  version,
  architecture,
  ...more,
})
const hidden = { required_claims: ['HIDDEN'] }

/** Creates a manager of the caller, and gives a function that sends requests to its catalog. */
const createManagedCatalog = async (
  call: Call,
  { url }: { url: string },
  credentials: object = { api_key: apiKey },
): Promise<
  { id: string } & ((
    method: string,
    path: string,
    more?: { as?: string[]; body?: unknown; headers?: Record<string, string> },
  ) => Promise<Answer>)
> => {
  const made = await call('POST', '/api/v1/catalog-managers', { ...me, body: { name: 'QA', url, ...credentials } })
  const { id } = made.body
  return Object.assign(
    (method: string, path: string, more: object = {}) =>
      call(method, `/api/v1/catalog-managers/${id}/catalog${path}`, { ...me, ...more }),
    { id },
  )
}
const idsOf = ({ body }: Answer): string[] => body.map(({ name }: { name: string }) => name)

describe('the catalog of a manager', () => {
  test.for([false, true])(
    'shows only the manifests that the caller may see; grouped: %s',
    async (grouped, { call, remote }) => {
      const catalog = await createManagedCatalog(call, remote)
      remote.grouped = grouped
      remote.manifests = [
        manifest('OPEN'),
        manifest('OPEN', '2', hidden),
        manifest('MIXED', '1', { required_claims: ['HIDDEN', 'qa'], required_roles: [] }),
        manifest('ROLE', '1', { required_roles: ['BUILDER'] }),
        manifest('NONE', '1', hidden),
      ]
      const qa = { as: [...everything, 'QA'] }
      expect(idsOf(await catalog('GET', ''))).toEqual(['open-arm64-1'])
      expect(idsOf(await catalog('GET', '', qa))).toEqual(['open-arm64-1', 'mixed-arm64-1'])
      expect(idsOf(await catalog('GET', '', root))).toHaveLength(5)
      expect(idsOf(await catalog('GET', '', { ...qa, headers: { 'x-filter': 'catalog_id=^M' } }))).toEqual([
        'mixed-arm64-1',
      ])
      for (const path of ['/open', '/OPEN/1', '/open/1/arm64', '/open/1/arm64/download'])
        expect(await catalog('GET', path), path).toMatchObject({
          status: 200,
          body: [{ catalog_id: 'OPEN', version: '1' }],
        })
      for (const path of ['/none', '/open/2', '/open/2/arm64', '/open/2/arm64/download', '/role', '/nothing'])
        expect((await catalog('GET', path)).status, path).toBe(404)
      expect(remote.seen.some(({ url }) => url.includes('/2/arm64/download'))).toBe(false)
      remote.manifests = []
      expect(await catalog('GET', '')).toMatchObject({ status: 200, body: [] })
    },
  )

  test('a manifest is visible to holders of one of its roles and one of its claims, in any case', () => {
    const canSee = (roles: string[], claims: string[], required: RemoteManifest): boolean =>
      createVisibilityCheck({ id: '', username: '', email: '', roles, claims: new Set(claims), superUser: false })(
        required,
      )
    expect(canSee([], [], {})).toBe(true)
    expect(canSee([], [], { required_roles: null, required_claims: [] })).toBe(true)
    expect(canSee(['USER'], [], { required_roles: ['user', 'ADMIN'] })).toBe(true)
    expect(canSee(['USER'], ['QA'], { required_roles: ['ADMIN'], required_claims: ['QA'] })).toBe(false)
    expect(canSee(['USER'], ['X'], { required_roles: ['USER'], required_claims: ['QA'] })).toBe(false)
    expect(canSee(['USER'], ['DELET_CACHE_ITEM'], { required_claims: ['delete_cache_item'] })).toBe(true)
  })

  test('gets the query and the body, but not the caller’s credentials', async ({ call, remote }) => {
    const catalog = await createManagedCatalog(call, remote)
    remote.manifests = [manifest('OPEN')]
    const headers = {
      'x-api-key': 'callers-own-key',
      cookie: 'session=callers-own-cookie',
      'x-internal-api-client': 'true',
      'x-super-user': 'true',
      'x-claims': 'SElEREVO',
      'x-forwarded-for': '1.2.3.4',
      'proxy-authorization': 'Basic callers-own',
    }
    await catalog('GET', '/open?limit=5&access_token=callers-own-token&authorization=Bearer%20callers-own', { headers })
    const body = { tags: ['a'], connection: 'provider=x;secret=y', deep: { list: [1, { two: 2 }] } }
    await catalog('PATCH', '/open/1/arm64/tags?x=%26y', { body, headers })
    const [read, look, changed] = remote.seen.slice(-3)
    expect(read).toMatchObject({ method: 'GET', url: '/api/v1/catalog/open?limit=5' })
    expect(look).toMatchObject({ method: 'GET', url: '/api/v1/catalog/open/1/arm64' })
    expect(changed).toMatchObject({ method: 'PATCH', url: '/api/v1/catalog/open/1/arm64/tags?x=%26y', body })
    for (const one of remote.seen) {
      expect(one.headers).toMatchObject({
        'x-api-key': apiKey,
        ...(one !== remote.seen[0] && {
          'x-source': 'CATALOG_MANAGER_REQUEST',
          'x-internal-api-client': 'false',
          'x-claims': Buffer.from(everything.join(',')).toString('base64'),
          'x-roles': '',
        }),
      })
      expect(JSON.stringify(one)).not.toContain('callers-own')
      for (const name of ['authorization', 'cookie', 'x-super-user', 'x-forwarded-for', 'proxy-authorization'])
        expect(one.headers[name], name).toBeUndefined()
    }
  })

  test('each endpoint calls the same endpoint of the remote catalog', async ({ call, remote }) => {
    const catalog = await createManagedCatalog(call, remote)
    const place = '/open/1/arm64'
    const at = `/api/v1/catalog${place}`
    const routes = [
      ...['taint', 'untaint', 'revoke', 'connection'].map(action => ['PATCH', action, root] as const),
      ...['claims', 'roles', 'tags'].flatMap(action => [
        ['PATCH', action, me] as const,
        ['DELETE', action, me] as const,
      ]),
      ['PUT', 'metadata', me] as const,
    ]
    for (const [method, action, who] of routes) {
      remote.manifests = [manifest('OPEN')]
      const answer = await catalog(method, `${place}/${action}`, { ...who, body: { tags: ['x'] } })
      expect(answer, action).toMatchObject({ status: 200, body: [{ catalog_id: 'OPEN' }] })
      expect(remote.seen.at(-1)).toMatchObject({ method, url: `${at}/${action}` })
      if (who === root) expect((await catalog(method, `${place}/${action}`, { body: {} })).status, action).toBe(403)
    }
    for (const action of ['import', 'import-vm']) {
      const body = { catalog_id: 'NEW', version: '1', architecture: 'arm64' }
      expect(await catalog('PUT', `/${action}`, { body })).toEqual({
        status: 200,
        // The manifest requires a claim that the caller does not have.
        body: { id: 'new', local_path: '', machine_name: '' },
        headers: expect.anything(),
      })
      expect((await catalog('PUT', `/${action}`, { ...root, body })).body.manifest.catalog_id).toBe('NEW')
      expect(remote.seen.at(-1)).toMatchObject({ method: 'PUT', url: `/api/v1/catalog/${action}`, body })
    }
    expect(await catalog('POST', '', { body: manifest('NEW') })).toMatchObject({ status: 200, body: [manifest('NEW')] })
    expect(remote.seen.at(-1)).toMatchObject({ method: 'POST', url: '/api/v1/catalog', body: manifest('NEW') })
    for (const path of ['/new/1/arm64', '/new/1', '/new']) {
      remote.manifests = [manifest('NEW')]
      expect(await catalog('DELETE', `${path}?clean_remote=false`), path).toMatchObject({
        status: 202,
        body: { code: 202 },
      })
      expect(remote.seen.at(-1)).toMatchObject({ method: 'DELETE', url: `/api/v1/catalog${path}?clean_remote=false` })
    }
  })

  test('an empty version counts as left out, as in the catalog of this host', async ({ call, remote }) => {
    const { id } = (
      await call('POST', '/api/v1/catalog-managers', { body: { name: 'QA', url: remote.url, api_key: apiKey } })
    ).body
    const body = { catalog_id: 'new', version: '', architecture: 'arm64' }
    expect((await call('POST', `/api/v1/catalog-managers/${id}/catalog`, { body })).status).toBe(200)
    expect(
      (await call('POST', `/api/v1/catalog-managers/${id}/catalog`, { body: { ...body, version: '../..' } })).status,
    ).toBe(400)
  })

  test('a hidden manifest cannot be changed, deleted or replaced', async ({ call, remote }) => {
    const catalog = await createManagedCatalog(call, remote)
    remote.manifests = [
      manifest('OPEN', '1', hidden),
      manifest('OPEN', '2'),
      manifest('NONE', '1', hidden),
      manifest('A_B', '1', hidden),
    ]
    const body = { tags: ['x'] }
    for (const [method, path] of [
      ['PATCH', '/open/1/arm64/tags'],
      ['DELETE', '/open/1/arm64/claims'],
      ['PUT', '/open/1/arm64/metadata'],
      ['DELETE', '/open/1/arm64'],
      ['DELETE', '/open/1'],
      ['DELETE', '/none'],
    ] as const)
      expect((await catalog(method, path, { body })).status, path).toBe(404)
    for (const [method, path] of [
      ['POST', ''],
      ['PUT', '/import'],
      ['PUT', '/import-vm'],
    ] as const)
      // The last one is another spelling of A_B.
      for (const catalog_id of ['OPEN', ' open ', 'a:b'])
        expect((await catalog(method, path, { body: manifest(catalog_id) })).status, path).toBe(409)
    expect(remote.seen.every(({ method }) => method === 'GET')).toBe(true)
    // The deletion of a catalog id deletes only the visible manifests.
    expect((await catalog('DELETE', '/open')).status).toBe(202)
    expect(remote.manifests.map(({ catalog_id, version }) => catalog_id + version)).toEqual(['OPEN1', 'NONE1', 'A_B1'])
    expect((await catalog('DELETE', '/open', root)).status).toBe(202)
    expect(remote.manifests).toHaveLength(2)
  })

  test.for([
    '/cache',
    '/CACHE/open',
    '/push',
    '/pull',
    '/import-vm',
    '/%252e%252e/auth/users',
    '/..%2f..%2fauth%2fusers',
    '/a%5cb',
    '/a/%2e%2e%2f%2e%2e/b',
    '/a%3fb',
    '/a%23b',
    '/a%00b',
    '/a%0d%0ab',
  ])('%s is not forwarded', async (path, { call, remote }) => {
    const catalog = await createManagedCatalog(call, remote)
    for (const method of ['GET', 'DELETE'])
      expect([400, 404, 405], method).toContain((await catalog(method, path, root)).status)
    expect(remote.seen).toHaveLength(1)
  })

  test.for(['..', '.', ' .. ', 'cache', 'a\nb', '\ud800', ''])(
    'a manifest named %o is not registered',
    async (catalog_id, { call, remote }) => {
      const catalog = await createManagedCatalog(call, remote)
      expect((await catalog('POST', '', { body: { catalog_id } })).status).toBe(400)
      expect((await catalog('POST', '', { body: { catalog_id: 'x', version: '../..' } })).status).toBe(400)
      expect(remote.seen).toHaveLength(1)
    },
  )

  test('a deletion follows no reference of the remote catalog to another path', async ({ call, remote }) => {
    const catalog = await createManagedCatalog(call, remote)
    remote.manifests = [manifest('OPEN', '..', {}, '..'), manifest('OPEN', '1', hidden)]
    expect((await catalog('DELETE', '/open')).status).toBeGreaterThanOrEqual(400)
    expect(remote.seen.filter(({ method }) => method === 'DELETE')).toEqual([])
  })

  test('a global manager is read-only, except for callers who may change every catalog', async ({ call, remote }) => {
    const catalog = await createManagedCatalog(call, remote)
    await call('PUT', `/api/v1/catalog-managers/${catalog.id}`, { ...root, body: { global: true } })
    remote.manifests = [manifest('OPEN')]
    const other = { as: ['other', ...everything] }
    expect((await catalog('GET', '', other)).body).toHaveLength(1)
    expect((await catalog('GET', '/open/1/arm64/download', other)).status).toBe(200)
    const changes = [
      ['PATCH', '/open/1/arm64/tags', { tags: ['a'] }, 'UPDATE'],
      ['PUT', '/open/1/arm64/metadata', { description: 'a' }, 'UPDATE'],
      ['POST', '', { catalog_id: 'new', version: '1', architecture: 'arm64' }, 'CREATE'],
      ['PUT', '/import', { catalog_id: 'new', version: '1', architecture: 'arm64' }, 'IMPORT'],
      ['POST', '/push', { catalog_id: 'new', version: '1', uuid: 'x', connection: 'provider=local-storage' }, 'PUSH'],
      ['DELETE', '/open/1/arm64', undefined, 'DELETE'],
    ] as const
    for (const [method, path, body, action] of changes) {
      const before = remote.seen.length
      const refused = await catalog(method, path, { ...other, body })
      expect([refused.status, refused.body.message], action).toEqual([
        403,
        `QA is not yours; to change its catalog needs the claim ${action}_CATALOG_MANIFEST.`,
      ])
      expect(remote.seen).toHaveLength(before)
      const allowed = await catalog(method, path, { as: [...other.as, `${action}_CATALOG_MANIFEST`], body })
      expect(allowed.status, action).not.toBe(403)
    }
  })

  test('a manager that is switched off or belongs to somebody else cannot be used', async ({ call, remote }) => {
    const catalog = await createManagedCatalog(call, remote)
    expect((await catalog('GET', '', { as: ['other', ...everything] })).status).toBe(404)
    expect((await catalog('GET', '', { as: ['other', 'CATALOG_MANAGER_LIST', ...everything] })).status).toBe(403)
    await call('PUT', `/api/v1/catalog-managers/${catalog.id}`, { ...me, body: { active: false } })
    expect((await catalog('GET', '')).status).toBe(409)
    expect(remote.seen).toHaveLength(1)
  })
})

describe('the token of a manager', () => {
  const credentials = { username: 'me@example.test', password }

  test('is requested once for concurrent calls, and renewed when it is not accepted any more', async ({
    call,
    remote,
  }) => {
    const catalog = await createManagedCatalog(call, remote, credentials)
    remote.signIns.length = 0
    const five = async (): Promise<number[]> =>
      (await Promise.all(Array.from({ length: 5 }, () => catalog('GET', '')))).map(({ status }) => status)
    expect(await five()).toEqual([200, 200, 200, 200, 200])
    expect(remote.signIns).toEqual([{ email: 'me@example.test', password }])
    expect(await five()).toEqual([200, 200, 200, 200, 200])
    expect(remote.signIns).toHaveLength(1)
    remote.endTokens()
    expect(await five()).toEqual([200, 200, 200, 200, 200])
    expect(remote.signIns).toHaveLength(2)
    await call('PUT', `/api/v1/catalog-managers/${catalog.id}`, { ...me, body: { name: 'Changed' } })
    expect((await catalog('GET', '')).status).toBe(200)
    expect(remote.signIns.length).toBeGreaterThan(2)
  })

  test('is renewed before it expires', async ({ call, remote }) => {
    const catalog = await createManagedCatalog(call, remote, credentials)
    await catalog('GET', '')
    const before = remote.signIns.length
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 3_530_000 })
    try {
      await catalog('GET', '')
      await catalog('GET', '')
      expect(remote.signIns).toHaveLength(before)
      vi.setSystemTime(Date.now() + 15_000)
      await catalog('GET', '')
      expect(remote.signIns).toHaveLength(before + 1)
    } finally {
      vi.useRealTimers()
    }
  })
})
