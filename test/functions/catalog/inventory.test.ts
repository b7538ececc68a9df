import { describe, expect } from 'vitest'
import { test } from '../../support/harness.ts'
import { at, register, registerPack, secret } from './packs.ts'

const reader = { as: ['LIST_CATALOG_MANIFEST'] }

describe('the inventory', () => {
  test('shows a manifest with all its fields, and leaves out times that are not set', async ({ call }) => {
    expect(await register(call, { description: 'CI base', tags: ['ci'] })).toMatchObject({ status: 200 })
    const { status, body } = await call('GET', at('win11', '24.2', 'arm64'), reader)
    expect(status).toBe(200)
    expect(body).toHaveLength(1)
    expect(body[0]).toMatchObject({
      catalog_id: 'win11',
      name: 'win11-arm64-24.2',
      description: 'CI base',
      tags: ['ci', 'latest'],
      required_claims: [],
      minimum_requirements: { cpu: 0, memory: 0, disk: 0 },
      provider: { type: '', meta: {} },
      is_compressed: false,
      pack_path: '',
      pack_filename: '',
      metadata_path: '',
      metadata_filename: '',
      last_downloaded_user: '',
      tainted_by: '',
      pack_contents: [],
      virtual_machine_contents: [],
    })
    expect(Object.keys(body[0])).toEqual(
      expect.not.arrayContaining(['tainted_at', 'revoked_at', 'last_downloaded_at', 'rev']),
    )
    expect(Object.values(body[0])).not.toContain(null)
  })

  test('finds a manifest in any case, by an alias of its architecture, by name and by id; others are 404', async ({
    call,
  }) => {
    const { id } = (await register(call, { catalog_id: 'Win 11', architecture: 'aarch64' })).body[0]
    for (const path of [
      at('WIN_11', '24.2', 'ARM64'),
      at('win 11', '24.2', 'aarch64'),
      at('win_11', '24.2', 'arm'),
      at('win_11'),
      at('win_11', '24.2'),
      at('win_11-arm64-24.2'),
      at(id.toUpperCase()),
    ])
      expect((await call('GET', path, reader)).body[0].id, path).toBe(id)
    for (const path of [at('win_1'), at('win_11', '24'), at('win_11', '24.2', 'x86_64'), at('win_11', '24.2', 'mips')])
      expect((await call('GET', path, reader)).status, path).toBe(404)
  })

  test('resolves a version by its name, else by a tag of the newest version that has it', async ({ call }) => {
    await register(call, { version: '1', tags: ['stable'] })
    await register(call, { version: '2', tags: ['stable'] })
    await register(call, { version: '2', architecture: 'x86_64' })
    await register(call, { version: '3' })
    const versions = async (...place: string[]): Promise<string[]> =>
      (await call('GET', at('win11', ...place), reader)).body.map((one: { version: string }) => one.version)
    expect(await versions('latest')).toEqual(['3'])
    expect(await versions('latest', 'arm64')).toEqual(['3'])
    expect(await versions('stable')).toEqual(['2', '2'])
    expect(await versions('stable', 'arm64')).toEqual(['2'])
    await register(call, { version: 'stable' })
    expect(await versions('stable')).toEqual(['stable'])
  })

  test('a new version becomes the latest; a version that is registered again does not', async ({ call }) => {
    await register(call, { version: '1' })
    await register(call, { version: '2' })
    await register(call, { version: '1', tags: ['old'] })
    const tags = async (version: string): Promise<string[]> =>
      (await call('GET', at('win11', version), reader)).body[0].tags
    expect(await tags('1')).toEqual(['old'])
    expect(await tags('2')).toEqual(['latest'])
    await register(call, { version: '2', tags: ['new'] })
    expect(await tags('2')).toEqual(['new', 'latest'])
  })

  test('when the latest version is deleted, the previous one that is not revoked becomes the latest', async ({
    call,
  }) => {
    for (const version of ['1', '2', '3', '4']) await register(call, { version })
    for (const version of ['2', '4']) await register(call, { version, architecture: 'x86_64' })
    await call('PATCH', `${at('win11', '3', 'arm64')}/revoke`)
    const latest = async (): Promise<string[]> =>
      ((await call('GET', at('win11', 'latest'), reader)).body as { version: string; architecture: string }[])
        .map(({ version, architecture }) => `${version} ${architecture}`)
        .sort()
    await call('DELETE', `${at('win11', '4', 'arm64')}?clean_remote=false`)
    expect(await latest()).toEqual(['4 x86_64'])
    await call('DELETE', `${at('win11', '4')}?clean_remote=false`)
    expect(await latest()).toEqual(['2 arm64', '2 x86_64'])
    await call('DELETE', `${at('win11', '1')}?clean_remote=false`)
    expect(await latest()).toEqual(['2 arm64', '2 x86_64'])
  })

  test('registering again replaces the given fields and keeps the others', async ({ call, folder }) => {
    const first = (await registerPack(call, folder, { description: 'first', size: 5 })).body[0]
    const second = (await registerPack(call, folder, { description: 'second', architecture: 'arm64', tags: null }))
      .body[0]
    expect(second).toMatchObject({ id: first.id, description: 'second', size: 5, created_at: first.created_at })
    // Masked values stand for the stored ones.
    const again = (await register(call, { provider: second.provider })).body[0]
    expect(again.provider).toEqual(second.provider)
    expect((await call('GET', `${at('win11', '24.2', 'arm64')}/download?content=pack`, reader)).status).toBe(200)
  })

  test('no reply has the storage secret', async ({ call, folder }) => {
    const answers = [
      await registerPack(call, folder),
      await call('GET', '/api/v1/catalog', reader),
      await call('GET', at('win11'), reader),
      await call('GET', `${at('win11', '24.2', 'arm64')}/download`, {
        as: ['LIST_CATALOG_MANIFEST'],
        headers: { 'x-internal-api-client': 'true' },
      }),
      await call('GET', '/api/v1/catalog', {
        ...reader,
        headers: { 'x-filter': `provider.meta.access_key=${secret}` },
      }),
    ]
    for (const { status, body } of answers) {
      expect(status).toBe(200)
      expect(JSON.stringify(body)).not.toContain(secret)
    }
    expect(answers.at(-1)!.body).toEqual([])
    expect(answers[0]!.body[0].provider).toEqual({ type: 'local-storage', meta: { access_key: 'st****15' } })
  })

  test.for([
    [{ catalog_id: '' }, 'catalog_id'],
    [{ catalog_id: '..' }, 'catalog_id'],
    [{ catalog_id: 'push' }, 'catalog_id'],
    [{ catalog_id: 'ä'.repeat(60) }, 'catalog_id'],
    [{ version: 'a/b' }, 'version'],
    [{ version: '..' }, 'version'],
    [{ architecture: 'mips' }, 'x86_64'],
    [{ type: 'vbox' }, 'type'],
    [{ path: '/../etc' }, 'path'],
    [{ pack_path: 'a/b' }, 'pack_path'],
    [{ provider: { type: 'ftp' } }, 'provider'],
    [{ provider: { type: 'minio', meta: { bucket: 'b' } } }, 'endpoint'],
    [{ provider: { type: 'local-storage', meta: { 'a;b': 'c' } } }, 'keys'],
    [{ tags: ['a,b'] }, 'tags'],
  ])('refuses to register %j', async ([manifest, word], { call }) => {
    const { status, body } = await register(call, manifest as Record<string, unknown>)
    expect(status).toBe(400)
    expect(body.message).toContain(word)
    expect((await call('GET', '/api/v1/catalog', reader)).body).toEqual([])
  })
})

describe('a manifest with required claims or roles', () => {
  test('is visible to holders of one of its claims and one of its roles, and to super users', async ({ call }) => {
    await register(call, { required_claims: ['ci', 'LAB'] })
    const place = at('win11', '24.2', 'arm64')
    const gets = [place, at('win11'), `${place}/download`]
    for (const as of [['LIST_CATALOG_MANIFEST', 'LAB'], ['LIST_CATALOG_MANIFEST', 'CI'], ['*']])
      for (const path of gets) expect((await call('GET', path, { as })).status, `${path} ${as.join()}`).toBe(200)
    for (const path of [...gets, `${place}/download?content=pack`])
      expect((await call('GET', path, reader)).status, path).toBe(404)
    expect((await call('GET', '/api/v1/catalog', reader)).body).toEqual([])
    expect((await call('GET', '/api/v1/catalog', { ...reader, headers: { 'x-filter': 'name=.' } })).body).toEqual([])
    const editor = { as: ['UPDATE_CATALOG_MANIFEST', 'DELETE_CATALOG_MANIFEST', 'CREATE_CATALOG_MANIFEST'] }
    expect((await call('PATCH', `${place}/tags`, { ...editor, body: { tags: ['x'] } })).status).toBe(404)
    expect((await call('DELETE', place, editor)).status).toBe(404)
    expect((await register(call, {}, editor)).status).toBe(409)
    await register(call, { version: '25', required_roles: ['FARMER'] })
    expect((await call('GET', at('win11', '25'), { as: ['LIST_CATALOG_MANIFEST', 'FARMER'] })).status).toBe(404)
    expect((await call('GET', at('win11', '25'))).status).toBe(200)
  })

  test('has events that only those callers get', async ({ call }) => {
    await register(call)
    await register(call, { version: '2', required_claims: ['LAB'] })
    await register(call, { version: '3', required_roles: ['FARMER'] })
    const listAdded = async (...as: string[]): Promise<string[]> =>
      (await call('GET', '/api/v1/events?types=system', { as })).body.events.flatMap(
        ({ message, body }: { message: string; body?: { version: string } }) =>
          message === 'CATALOG_MANIFEST_ADDED' ? [body!.version] : [],
      )
    expect(await listAdded('LIST_CATALOG_MANIFEST')).toEqual(['24.2'])
    expect(await listAdded('LAB')).toEqual(['2'])
    expect(await listAdded('*')).toEqual(['24.2', '2', '3'])
  })
})

describe('the list', () => {
  test('has pages that skip nothing, latest update first, also while manifests are added', async ({ call }) => {
    for (let at = 0; at < 7; at += 1) await register(call, { version: `v${at}` })
    const seen: string[] = []
    let next: string | undefined = '/api/v1/catalog?limit=3'
    while (next) {
      const { status, body, headers } = await call('GET', next, reader)
      expect(status).toBe(200)
      expect(body.length).toBeLessThanOrEqual(3)
      seen.push(...body.map((one: { version: string }) => one.version))
      if (seen.length === 3) await register(call, { version: 'added' })
      next = /<([^>]+)>; rel="next"/.exec(headers.get('link') ?? '')?.[1]
    }
    expect(seen).toEqual(['v6', 'v5', 'v4', 'v3', 'v2', 'v1', 'v0'])
    expect((await call('GET', '/api/v1/catalog', reader)).headers.get('link')).toBeNull()
  })

  test('is filtered by a property, also a nested one, before it is cut into pages', async ({ call }) => {
    for (let at = 0; at < 6; at += 1)
      await register(call, { version: `v${at}`, minimum_requirements: { cpu: at % 2 ? 4 : 2 } })
    const headers = { 'x-filter': 'minimum_requirements.cpu=^4$' }
    const { body, headers: got } = await call('GET', '/api/v1/catalog?limit=2', { ...reader, headers })
    expect(body.map((one: { version: string }) => one.version)).toEqual(['v5', 'v3'])
    expect(got.get('link')).toContain('rel="next"')
    const bad = await call('GET', '/api/v1/catalog', { ...reader, headers: { 'x-filter': 'a=(' } })
    expect(bad.status).toBe(400)
  })

  test.for(['limit=0', 'limit=x', 'limit=100000', 'cursor=x', 'cursor=WzEsMl0'])(
    'refuses %s',
    async (query, { call }) => {
      expect((await call('GET', `/api/v1/catalog?${query}`, reader)).status).toBe(400)
    },
  )

  test('has an ETag that depends on what the caller sees', async ({ call }) => {
    await register(call)
    const first = await call('GET', '/api/v1/catalog', reader)
    const etag = first.headers.get('etag')!
    const same = await call('GET', '/api/v1/catalog', { ...reader, headers: { 'if-none-match': etag } })
    expect(same.status).toBe(304)
    const root = await call('GET', '/api/v1/catalog', { headers: { 'if-none-match': etag } })
    expect(root.status).toBe(200)
    await call('PATCH', `${at('win11', '24.2', 'arm64')}/taint`)
    const changed = await call('GET', '/api/v1/catalog', { ...reader, headers: { 'if-none-match': etag } })
    expect(changed.status).toBe(200)
  })
})
