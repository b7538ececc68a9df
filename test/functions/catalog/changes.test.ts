import { hash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { type Call, test } from '../../support/harness.ts'
import { at, register, registerPack } from './packs.ts'

const place = at('win11', '24.2', 'arm64')
const editor = { as: ['UPDATE_CATALOG_MANIFEST', 'LIST_CATALOG_MANIFEST'] }
const show = async (call: Call, path = place) => (await call('GET', path)).body[0]
const metaOf = (folder: string): Record<string, unknown> =>
  JSON.parse(readFileSync(join(folder, 'catalog/win11/win11-arm64-24.2.meta'), 'utf8'))

describe('flags', () => {
  test('belong to exactly one architecture', async ({ call }) => {
    await register(call)
    await register(call, { architecture: 'x86_64' })
    const { status, body } = await call('PATCH', `${at('win11', '24.2', 'x86_64')}/taint`)
    expect(status).toBe(200)
    expect(body).toHaveLength(1)
    expect(body[0]).toMatchObject({ architecture: 'x86_64', tainted: true, tainted_by: 'tester' })
    expect(Date.parse(body[0].tainted_at)).toBeGreaterThan(Date.now() - 60_000)
    expect(await show(call)).toMatchObject({ tainted: false, tainted_by: '' })
    expect((await call('GET', `${place}/download`)).status).toBe(200)
    expect(await show(call, at('win11', '24.2', 'x86_64'))).toMatchObject({ download_count: 0 })
  })

  test('a tainted manifest cannot be downloaded until it is untainted', async ({ call, folder }) => {
    await registerPack(call, folder)
    await call('PATCH', `${place}/taint`)
    expect((await call('PATCH', `${place}/taint`)).status).toBe(400)
    for (const query of ['', '?content=pack'])
      expect(await call('GET', `${place}/download${query}`)).toMatchObject({ status: 400, body: { code: 400 } })
    const { body } = await call('PATCH', `${place}/untaint`)
    expect(body[0]).toMatchObject({ tainted: false, untainted_by: 'tester', tainted_by: '' })
    expect(body[0]).not.toHaveProperty('tainted_at')
    expect((await call('PATCH', `${place}/untaint`)).status).toBe(400)
    expect((await call('GET', `${place}/download`)).status).toBe(200)
  })

  test('a revoked manifest stays revoked, and is still listed', async ({ call, folder }) => {
    await registerPack(call, folder)
    const { body } = await call('PATCH', `${place}/revoke`)
    expect(body[0]).toMatchObject({ revoked: true, revoked_by: 'tester', revoked_at: expect.any(String) })
    for (const [method, action] of [
      ['PATCH', 'revoke'],
      ['PATCH', 'taint'],
      ['PATCH', 'untaint'],
      ['GET', 'download'],
      ['GET', 'download?content=pack'],
    ] as const)
      expect((await call(method, `${place}/${action}`)).status, action).toBe(403)
    expect((await call('GET', '/api/v1/catalog')).body).toHaveLength(1)
    await register(call)
    expect(await show(call)).toMatchObject({ revoked: true })
  })
})

describe('edits', () => {
  test('/claims changes claims, roles and tags; /roles and /tags change their own list', async ({ call }) => {
    await register(call)
    const body = {
      connection: 'ignored',
      required_claims: ['lab', 'LAB', 'ci'],
      required_roles: ['farmer'],
      tags: ['a', 'A', 'b'],
    }
    const edit = (method: string, what: string, given: object = body) =>
      call(method, `${place}/${what}`, { as: ['*'], body: given })
    expect((await edit('PATCH', 'claims')).body).toMatchObject([
      { required_claims: ['LAB', 'CI'], required_roles: ['FARMER'], tags: ['latest', 'a', 'b'] },
    ])
    expect((await edit('DELETE', 'claims', { required_claims: ['Lab'], tags: ['A'] })).body).toMatchObject([
      { required_claims: ['CI'], required_roles: ['FARMER'], tags: ['latest', 'b'] },
    ])
    expect((await edit('DELETE', 'roles')).body).toMatchObject([
      { required_claims: ['CI'], required_roles: [], tags: ['latest', 'b'] },
    ])
    expect((await edit('PATCH', 'roles')).body).toMatchObject([
      { required_claims: ['CI'], required_roles: ['FARMER'], tags: ['latest', 'b'] },
    ])
    expect((await edit('DELETE', 'tags')).body).toMatchObject([{ required_claims: ['CI'], tags: ['latest'] }])
    expect((await edit('PATCH', 'tags')).body).toMatchObject([{ required_claims: ['CI'], tags: ['latest', 'a', 'b'] }])
    for (const [what, given] of [
      ['claims', {}],
      ['claims', { tags: [] }],
      ['roles', { tags: ['x'] }],
      ['tags', { required_claims: ['X'] }],
      ['tags', { tags: 'x' }],
      ['tags', { tags: null }],
    ] as const)
      expect((await edit('PATCH', what, given)).status, what).toBe(400)
  })

  test('/metadata replaces the given fields', async ({ call }) => {
    await register(call, { description: 'old', tags: ['a'] })
    const put = (body: object) => call('PUT', `${place}/metadata`, { ...editor, body })
    expect((await put({ description: 'new', required_claims: null })).body).toMatchObject([
      { description: 'new', tags: ['a', 'latest'], required_claims: [] },
    ])
    expect((await put({ tags: [], description: '' })).body).toMatchObject([{ description: '', tags: [] }])
    expect((await put({})).status).toBe(400)
  })

  test('are written to the description on the provider, which keeps its other members', async ({ call, folder }) => {
    await registerPack(call, folder)
    await call('PATCH', `${place}/claims`, { body: { required_claims: ['LAB'], tags: ['x'] } })
    expect(metaOf(folder)).toMatchObject({
      required_claims: ['LAB'],
      tags: ['latest', 'x'],
      provider: null,
      compressed_checksum: 'abc',
    })
    await call('PUT', `${place}/metadata`, { body: { description: 'told' } })
    expect(metaOf(folder)).toMatchObject({ description: 'told', required_claims: ['LAB'] })
  })

  test('change nothing when the provider fails', async ({ call, folder }) => {
    await registerPack(call, folder)
    const before = await show(call)
    writeFileSync(join(folder, 'catalog/win11/win11-arm64-24.2.meta'), 'no json')
    expect((await call('PATCH', `${place}/tags`, { body: { tags: ['x'] } })).status).toBe(502)
    expect(await show(call)).toEqual(before)
  })

  test('are all applied when many are sent at once', async ({ call, folder }) => {
    await registerPack(call, folder)
    const tags = Array.from({ length: 20 }, (_, at) => `t${at}`)
    await Promise.all([
      ...tags.map(tag => call('PATCH', `${place}/tags`, { body: { tags: [tag] } })),
      ...tags.map(() => call('GET', `${place}/download`)),
    ])
    const after = await show(call)
    expect(new Set(after.tags)).toEqual(new Set(['latest', ...tags]))
    expect(after.download_count).toBe(20)
    expect(new Set(metaOf(folder)['tags'] as string[])).toEqual(new Set(['latest', ...tags]))
  })

  test('respect If-Match; a download in between does not count as a change', async ({ call }) => {
    await register(call)
    const etag = (await call('GET', place)).headers.get('etag')!
    await call('GET', `${place}/download`)
    const edit = (tag: string, match: string) =>
      call('PATCH', `${place}/tags`, { headers: { 'if-match': match }, body: { tags: [tag] } })
    expect((await edit('a', etag)).status).toBe(200)
    expect((await edit('b', etag)).status).toBe(412)
    expect((await edit('b', `W/${(await call('GET', place)).headers.get('etag')}`)).status).toBe(412)
    expect((await edit('b', '*')).status).toBe(200)
    expect((await call('PATCH', `${place}/taint`, { headers: { 'if-match': etag } })).status).toBe(412)
    expect(
      (await call('GET', place, { headers: { 'if-none-match': (await call('GET', place)).headers.get('etag')! } }))
        .status,
    ).toBe(304)
  })
})

describe('the connection', () => {
  const connect = (call: Call, connection: unknown) =>
    call('PATCH', `${place}/connection`, { ...editor, body: { connection } })

  test('changes to a storage that has the pack', async ({ call, folder }) => {
    await registerPack(call, folder)
    const other = join(folder, 'other')
    expect((await connect(call, `provider=local-storage;catalog_path=${other}`)).status).toBe(400)
    mkdirSync(join(other, 'win11'), { recursive: true })
    writeFileSync(join(other, 'win11/win11-arm64-24.2.pdpack'), 'too short')
    expect((await connect(call, `provider=local-storage;catalog_path=${other}`)).status).toBe(400)
    writeFileSync(join(other, 'win11/win11-arm64-24.2.pdpack'), 'the bytes of a pack')
    const { status, body } = await connect(call, `provider=local-storage;catalog_path=${other}`)
    expect(status).toBe(200)
    expect(body[0].provider).toEqual({ type: 'local-storage', meta: { catalog_path: other } })
    expect(existsSync(join(other, 'win11/win11-arm64-24.2.meta'))).toBe(true)
  })

  test.for(['', 'host=a.example', 'provider=ftp', 'nonsense', 7, undefined])(
    '%j is refused',
    async (connection, { call, folder }) => {
      await registerPack(call, folder)
      expect((await connect(call, connection)).status).toBe(400)
    },
  )

  test('cannot name a folder outside of the allowed ones', async ({ call, folder }) => {
    await registerPack(call, folder)
    mkdirSync(join(folder, 'state'), { recursive: true })
    for (const path of ['/etc', `${folder}/state`, `${folder}/../`, '/proc/self/cwd'])
      expect((await connect(call, `provider=local-storage;catalog_path=${path}`)).status, path).toBe(403)
    expect((await connect(call, 'provider=local-storage;catalog_path=relative')).status).toBe(400)
  })
})

describe('deletion', () => {
  const file = (folder: string, name: string): string => join(folder, 'catalog', name)

  test('removes the manifest’s objects, and no others whose names begin with the same letters', async ({
    call,
    folder,
  }) => {
    for (const [catalog_id, version, architecture] of [
      ['win1', '1', 'arm64'],
      ['win1', '1', 'x86_64'],
      ['win1', '2', 'arm64'],
      ['win11', '1', 'arm64'],
    ] as const)
      await registerPack(call, folder, { catalog_id, version, architecture })
    expect(await call('DELETE', at('win1', '1', 'arm64'))).toMatchObject({ status: 202, body: { code: 202 } })
    expect(existsSync(file(folder, 'win1/win1-arm64-1.pdpack'))).toBe(false)
    expect(existsSync(file(folder, 'win1/win1-arm64-1.meta'))).toBe(false)
    expect(existsSync(file(folder, 'win1/win1-x86_64-1.pdpack'))).toBe(true)
    expect((await call('DELETE', at('win1'))).status).toBe(202)
    expect(existsSync(file(folder, 'win1/win1-arm64-2.pdpack'))).toBe(false)
    expect((await call('GET', at('win1'))).status).toBe(404)
    expect(existsSync(file(folder, 'win11/win11-arm64-1.pdpack'))).toBe(true)
    expect((await call('DELETE', at('win1'))).status).toBe(404)
  })

  test('needs the version: a tag is not enough', async ({ call }) => {
    await register(call)
    expect((await call('DELETE', at('win11', 'latest'))).status).toBe(404)
    expect((await call('DELETE', at('win11', '24.2'))).status).toBe(202)
  })

  test('clean_remote=false keeps the objects', async ({ call, folder }) => {
    await registerPack(call, folder)
    expect((await call('DELETE', `${place}?clean_remote=false`)).status).toBe(202)
    expect(existsSync(file(folder, 'win11/win11-arm64-24.2.pdpack'))).toBe(true)
    expect((await call('GET', place)).status).toBe(404)
    expect((await call('DELETE', `${place}?clean_remote=maybe`)).status).toBe(400)
  })

  test('of a manifest with a forbidden storage gives 403, and the record stays', async ({ call, folder }) => {
    await registerPack(call, folder)
    renameSync(file(folder, 'win11'), join(folder, 'elsewhere'))
    symlinkSync(join(folder, 'elsewhere'), file(folder, 'win11'))
    const { status, body } = await call('DELETE', place)
    expect(status).toBe(403)
    expect(body.message).toContain('0 of 1')
    expect((await call('GET', place)).status).toBe(200)
  })

  test('keeps objects that another manifest has too', async ({ call, folder }) => {
    await registerPack(call, folder)
    await register(call, {
      version: 'same',
      path: '/win11',
      pack_path: 'win11-arm64-24.2.pdpack',
      pack_sha256: hash('sha256', 'the bytes of a pack'),
      provider: { type: 'local-storage', meta: { access_key: 'storage-secret-0815' } },
    })
    await call('DELETE', place)
    expect(existsSync(file(folder, 'win11/win11-arm64-24.2.pdpack'))).toBe(true)
    expect(existsSync(file(folder, 'win11/win11-arm64-24.2.meta'))).toBe(false)
    await call('DELETE', at('win11', 'same'))
    expect(existsSync(file(folder, 'win11/win11-arm64-24.2.pdpack'))).toBe(false)
  })
})
