import { describe, expect } from 'vitest'
import type { Principal } from '#lib/access/principal.ts'
import { ServiceError } from '#lib/errors.ts'
import { createCatalogManagers } from '#lib/remote-catalogs/managers/managers.ts'
import { openManagerRecords } from '#lib/remote-catalogs/managers/records.ts'
import type { Answer, Call } from '../../support/harness.ts'
import { apiKey, letThrough, password, type RemoteCatalog, startRemoteCatalog, test } from './remote-catalog.ts'

const managers = '/api/v1/catalog-managers'
const own = ['CREATE', 'UPDATE', 'DELETE', 'LIST'].map(action => `CATALOG_MANAGER_${action}_OWN`)
const full = ['CREATE', 'UPDATE', 'DELETE', 'LIST'].map(action => `CATALOG_MANAGER_${action}`)
const me = { as: own }
const admin = { as: ['other', ...full] }
const root = { as: ['other', '*'] }

const create = (call: Call, { url }: { url: string }, more: object = {}, who: { as: string[] } = me): Promise<Answer> =>
  call('POST', managers, { ...who, body: { name: 'QA', url, api_key: apiKey, ...more } })
const put = (call: Call, id: string, body: object, who: { as: string[] } = me): Promise<Answer> =>
  call('PUT', `${managers}/${id}`, { ...who, body })
/** Gives the credential of the last request that the remote catalog got. */
const credential = ({ seen }: RemoteCatalog) => {
  const { 'x-api-key': key, authorization } = seen.at(-1)!.headers
  return key ?? authorization
}

describe('catalog managers', () => {
  test('are created, shown, changed and deleted', async ({ call, remote }) => {
    const made = await create(call, remote, { required_claims: [' qa ', 'delete_cache_item'] })
    expect(made).toMatchObject({
      status: 201,
      body: {
        name: 'QA',
        url: remote.url,
        internal: false,
        active: true,
        global: false,
        authentication_method: 'api_key',
        api_key: '********',
        required_claims: ['QA', 'DELET_CACHE_ITEM'],
        owner_id: '00000000-0000-4000-8000-0000000000aa',
      },
    })
    const { id } = made.body
    expect(Object.keys(made.body)).not.toContain('password')
    for (const at of [id, id.toUpperCase()])
      expect(await call('GET', `${managers}/${at}`, me)).toMatchObject({ status: 200, body: made.body })
    expect((await call('GET', managers, me)).body).toEqual([made.body])
    expect((await call('GET', managers, { ...me, headers: { 'x-filter': 'name=^Q' } })).body).toHaveLength(1)
    expect((await call('GET', managers, { ...me, headers: { 'x-filter': 'name=^X' } })).body).toHaveLength(0)
    expect(await put(call, id, { name: 'Other', active: false })).toMatchObject({
      status: 200,
      body: { id, name: 'Other', active: false, url: remote.url, api_key: '********' },
    })
    expect(await call('DELETE', `${managers}/${id}`, me)).toMatchObject({ status: 202, body: { code: 202 } })
    expect((await call('GET', `${managers}/${id}`, me)).status).toBe(404)
    expect((await put(call, id, { name: 'x' })).status).toBe(404)
    expect((await call('DELETE', `${managers}/${id}`, me)).status).toBe(404)
  })

  test('publish an event for each change, for callers who can see them', async ({ call, remote, events }) => {
    const before = events.head()
    const { id } = (await create(call, remote)).body
    await put(call, id, { name: 'New' })
    await call('DELETE', `${managers}/${id}`, me)
    const told = events.entries(before, 10)
    expect(told.map(({ message, body }) => [message, body])).toEqual(
      ['ADDED', 'UPDATED', 'REMOVED'].map(what => [`CATALOG_MANAGER_${what}`, { manager_id: id }]),
    )
    expect(told[0]!.audience).toEqual({
      claims: ['CATALOG_MANAGER_LIST'],
      users: ['00000000-0000-4000-8000-0000000000aa'],
    })
    await create(call, remote, { global: true }, admin)
    expect(events.entries(before, 10).at(-1)!.audience.claims).toContain('CATALOG_MANAGER_LIST_OWN')
  })

  test('never show a secret in a reply or an event', async ({ call, remote, events }) => {
    const replies = [
      await create(call, remote, { api_key: undefined, username: 'someone@example.test', password }),
      await create(call, remote),
      await create(call, remote, { api_key: 'wrong-secret-value' }),
      await create(call, remote, { api_key: undefined, username: 'someone', password: 'wrong-secret-value' }),
      await create(call, remote, { url: 'http://user:wrong-secret-value@127.0.0.1:1' }),
    ]
    expect(replies.map(({ status }) => status)).toEqual([201, 201, 502, 502, 400])
    expect(replies[0]!.body).toMatchObject({ username: '********', password: '********' })
    const all = JSON.stringify([
      replies,
      (await call('GET', managers, me)).body,
      events.entries({ ...events.head(), seq: 0 }, 99),
    ])
    for (const secret of [password, apiKey, 'wrong-secret-value', 'someone']) expect(all).not.toContain(secret)
  })

  test('keep the stored secret when it is left out, empty or masked', async ({ call, remote }) => {
    const { id } = (await create(call, remote, { api_key: undefined, username: 'me', password })).body
    for (const body of [
      { name: 'a' },
      { username: '********', password: '********', authentication_method: 'credentials' },
      { password: '' },
    ]) {
      expect((await put(call, id, body)).status).toBe(200)
      expect(remote.signIns.at(-1)).toEqual({ email: 'me', password })
    }
    expect(await put(call, id, { username: '' })).toMatchObject({ status: 400 })
    expect((await put(call, id, { username: 'you' })).status).toBe(200)
    expect(remote.signIns.at(-1)).toEqual({ email: 'you', password })
    // The other method drops the credentials of the first one.
    const changed = await put(call, id, { api_key: apiKey })
    expect(changed.body).toMatchObject({ authentication_method: 'api_key', api_key: '********' })
    expect(changed.body.password).toBeUndefined()
    expect(credential(remote)).toBe(apiKey)
    expect((await put(call, id, { authentication_method: 'credentials' })).status).toBe(400)
  })

  test('do not send a stored secret to another server', async ({ call, remote, network }) => {
    await using other = await startRemoteCatalog()
    letThrough(network, other)
    const { id } = (await create(call, remote)).body
    for (const secret of [
      {},
      { api_key: '' },
      { api_key: '********' },
      { password: 'x', authentication_method: 'api_key' },
    ])
      for (const who of [me, root])
        expect(await put(call, id, { url: other.url, ...secret }, who)).toMatchObject({
          status: 400,
          body: { message: expect.stringContaining('another server') },
        })
    expect(other.seen).toEqual([])
    expect((await put(call, id, { url: `${remote.url}/` })).body.url).toBe(remote.url)
    expect((await put(call, id, { url: other.url, api_key: apiKey })).status).toBe(200)
    expect(credential(other)).toBe(apiKey)
  })

  test.for([
    [{ api_key: undefined }, 'no credentials'],
    [{ api_key: '********' }, 'no credentials'],
    [{ api_key: '' }, 'no credentials'],
    [{ api_key: undefined, username: 'me' }, 'both are needed'],
    [{ api_key: undefined, password: 'x' }, 'both are needed'],
    [{ authentication_method: 'credentials' }, 'no credentials'],
    [{ api_key: undefined, username: 'me', password: 'x', authentication_method: 'api_key' }, 'api_key is missing'],
    [{ api_key: 'a b' }, 'X-Api-Key'],
    [{ api_key: 'a\r\nb: c' }, 'X-Api-Key'],
    [{ name: ' ' }, 'name'],
    [{ url: 'catalog.example.test' }, 'url'],
    [{ url: 'file:///etc/passwd' }, 'url'],
    [{ url: 'http://peer.example.test/?a=b' }, 'query'],
    [{ url: 'http://peer.example.test/#a' }, 'fragment'],
    [{ url: 'http://me@peer.example.test/' }, 'credentials'],
    [{ required_claims: 'QA' }, 'required_claims'],
    [{ global: 'yes' }, 'global'],
  ] as const)('%o is refused, and the catalog gets no request', async ([more, told], { call, remote }) => {
    expect(await create(call, remote, more)).toMatchObject({
      status: 400,
      body: { message: expect.stringContaining(told) },
    })
    expect(remote.seen.length + remote.signIns.length).toBe(0)
    expect((await call('GET', managers, root)).body).toEqual([])
  })

  test('are checked once with their credentials before they are stored', async ({ call, remote }) => {
    expect((await create(call, remote)).status).toBe(201)
    expect(remote.seen.map(({ method, url }) => [method, url])).toEqual([['GET', '/api/v1/catalog']])
    expect(credential(remote)).toBe(apiKey)
    for (const end of ['/', '/api', '/api/v1', '/api/v1/'])
      expect((await create(call, { url: remote.url + end })).status).toBe(201)
    expect(remote.seen.every(({ url }) => url === '/api/v1/catalog')).toBe(true)
    expect((await create(call, remote, { api_key: 'wrong' })).status).toBe(502)
    expect((await create(call, remote, { api_key: 'wrong', active: false })).status).toBe(201)
    expect((await call('GET', managers, me)).body).toHaveLength(6)
  })

  test('are checked before an update too, which changes nothing when the check fails', async ({ call, remote }) => {
    const { id } = (await create(call, remote)).body
    expect((await put(call, id, { name: 'New', api_key: 'wrong' })).status).toBe(502)
    expect((await call('GET', `${managers}/${id}`, me)).body.name).toBe('QA')
    expect((await put(call, id, { name: 'New' })).status).toBe(200)
    expect(credential(remote)).toBe(apiKey)
  })

  test.for([
    'http://10.0.0.1',
    'http://127.0.0.2',
    'http://169.254.169.254',
    'http://[::1]',
    'http://[::ffff:127.0.0.2]',
    'http://2130706434/',
    'http://0177.0.0.2/',
    'http://inside.example.test',
  ])('%s cannot be reached', async (url, { call }) => {
    const answer = await create(call, { url })
    expect(answer).toMatchObject({ status: 400, body: { stack: [{ path: 'url' }] } })
    // The message does not show the address of an internal name.
    if (url.includes('inside')) expect(answer.body.message).not.toContain('10.0.0.1')
  })

  test('are limited to 100 per user', async ({ call, remote }) => {
    const inactive = { active: false }
    for (let made = 0; made < 100; made += 1) expect((await create(call, remote, inactive)).status).toBe(201)
    expect((await create(call, remote, inactive)).status).toBe(409)
    expect((await create(call, remote, inactive, admin)).status).toBe(201)
  })

  test('an update does not overwrite a concurrent one', async ({ call, remote }) => {
    const { id } = (await create(call, remote)).body
    const all = await Promise.all(['a', 'b', 'c'].map(name => put(call, id, { name })))
    expect(all.map(({ status }) => `${status}`).toSorted()).toEqual(['200', '409', '409'])
  })
})

describe('the rights on a catalog manager', () => {
  const publish = { global: true }
  test('only the full claim allows to make one global or internal, at creation and later', async ({ call, remote }) => {
    for (const more of [publish, { internal: true }]) {
      expect((await create(call, remote, more)).status).toBe(403)
      expect((await create(call, remote, more, admin)).status).toBe(201)
      const { id } = (await create(call, remote)).body
      expect((await put(call, id, more)).status).toBe(403)
      expect((await call('GET', `${managers}/${id}`, me)).body).toMatchObject({ global: false, internal: false })
    }
    const { id } = (await create(call, remote)).body
    expect((await put(call, id, publish, { as: full })).status).toBe(200)
    // For any change of a global manager the owner needs the claim too, except for making it private again.
    expect((await put(call, id, { name: 'x' })).status).toBe(403)
    expect((await put(call, id, { global: false })).status).toBe(200)
  })

  const list = 'LIST_CATALOG_MANIFEST'
  const callers = {
    owner: [...own, list],
    stranger: ['other', ...own, list],
    'stranger with QA': ['other', 'QA', ...own, list],
    administrator: ['other', ...full, list],
    'super user': ['other', '*'],
  }
  const kinds = {
    private: {},
    global: { global: true },
    'global for QA': { global: true, required_claims: ['QA'] },
    'global for QA and X': { global: true, required_claims: ['QA', 'X'] },
    internal: { internal: true, global: true },
  }
  // list, show, use, update, delete
  const table: Record<keyof typeof callers, Record<keyof typeof kinds, string>> = {
    owner: {
      private: '1 200 200 200 202',
      global: '1 200 200 403 202',
      'global for QA': '1 200 200 403 202',
      'global for QA and X': '1 200 200 403 202',
      internal: '1 200 200 403 403',
    },
    stranger: {
      private: '0 404 404 404 404',
      global: '1 200 200 403 403',
      'global for QA': '0 404 404 404 404',
      'global for QA and X': '0 404 404 404 404',
      internal: '1 200 200 403 403',
    },
    'stranger with QA': {
      private: '0 404 404 404 404',
      global: '1 200 200 403 403',
      'global for QA': '1 200 200 403 403',
      'global for QA and X': '0 404 404 404 404',
      internal: '1 200 200 403 403',
    },
    administrator: {
      private: '1 200 403 200 202',
      global: '1 200 200 200 202',
      'global for QA': '1 200 403 200 202',
      'global for QA and X': '1 200 403 200 202',
      internal: '1 200 200 403 403',
    },
    'super user': {
      private: '1 200 200 200 202',
      global: '1 200 200 200 202',
      'global for QA': '1 200 200 200 202',
      'global for QA and X': '1 200 200 200 202',
      internal: '1 200 200 200 202',
    },
  }
  const cells = (Object.keys(callers) as (keyof typeof callers)[]).flatMap(caller =>
    (Object.keys(kinds) as (keyof typeof kinds)[]).map(kind => [caller, kind] as const),
  )
  test.for(cells)('%s, %s', async ([caller, kind], { call, remote }) => {
    const { id } = (await create(call, remote, kinds[kind], { as: [...own, ...full] })).body
    const who = { as: callers[caller] }
    const at = `${managers}/${id}`
    const found = [
      (await call('GET', managers, who)).body.length,
      (await call('GET', at, who)).status,
      (await call('GET', `${at}/catalog`, who)).status,
      (await put(call, id, { name: 'New' }, who)).status,
      (await call('DELETE', at, who)).status,
    ]
    expect(found.join(' ')).toBe(table[caller][kind])
  })

  test('a caller who loses the right during the check stores nothing', async ({ eventLog: { store, publish } }) => {
    const { promise: asked, resolve: answer } = Promise.withResolvers<void>()
    const records = openManagerRecords(store)
    const managers = createCatalogManagers({ store, records, publish, remote: { check: () => asked } })
    const caller = {
      id: '00000000-0000-4000-8000-0000000000aa',
      username: 'jane',
      email: 'jane@example.test',
      roles: [],
      claims: new Set(full),
      superUser: false,
    }
    let now: Principal | undefined = caller
    const again = async (): Promise<Principal> => {
      if (!now) throw new ServiceError('unauthenticated', 'gone')
      return now
    }
    const request = { name: 'QA', url: 'https://peer.example.test', api_key: apiKey, global: true }
    const { id } = await managers.create(caller, { ...request, active: false }, again)
    const hers = await managers.create(caller, { ...request, global: false, active: false }, again)
    const other = { ...caller, id: '00000000-0000-4000-8000-0000000000bb' }
    const late = [
      managers.update(other, hers.id, { name: 'New', active: true }, async () => ({ ...other, claims: new Set(own) })),
      managers.create(caller, request, again),
      managers.update(caller, id, { name: 'New', active: true }, again),
    ]
    now = { ...caller, claims: new Set(own) }
    answer()
    for (const one of late) await expect(one).rejects.toMatchObject({ fault: 'forbidden' })
    now = undefined
    await expect(managers.create(caller, request, again)).rejects.toMatchObject({ fault: 'unauthenticated' })
    const kept = (await records.list()).map(({ name, active }) => [name, active])
    expect(kept).toEqual([
      ['QA', false],
      ['QA', false],
    ])
  })

  test('the managers of a user are deleted with the user, except for global ones', async ({ remote, eventLog }) => {
    const { store } = eventLog
    const records = openManagerRecords(store)
    const [mine, theirs] = ['00000000-0000-4000-8000-0000000000aa', '00000000-0000-4000-8000-0000000000bb']
    const manager = (owner_id: string, global: boolean) => ({
      id: crypto.randomUUID(),
      name: `${owner_id} ${global}`,
      url: remote.url,
      internal: false,
      active: true,
      authentication_method: 'api_key',
      api_key: apiKey,
      global,
      required_claims: [],
      owner_id,
      created_at: '',
      updated_at: '',
    })
    await store.commit([manager(mine, false), manager(mine, true), manager(theirs, false)].map(records.put))
    await store.commit(await records.prepareRemoval(mine))
    expect((await records.list()).map(({ name }) => name).toSorted()).toEqual([`${mine} true`, `${theirs} false`])
  })
})
