import { beforeEach, describe, expect, test } from 'vitest'
import { claimNames, plannedClaims } from '#lib/access/claims.ts'
import type { Answer } from '../../support/harness.ts'
import { type Ask, askOf, newIdentity, rootPassword } from '../../support/identity.ts'

const password = 'Another-Horse-7-Battery'

describe('users, roles and claims over HTTP', () => {
  let ask: Ask
  let root: string

  const signIn = async (username: string, secret = password): Promise<string> =>
    (await ask('POST', '/auth/token', { body: { username, password: secret } })).body.token
  const add = (username: string, more: object = {}, token = root): Promise<Answer> =>
    ask('POST', '/auth/users', {
      token,
      body: { username, name: username, email: `${username}@example.test`, password, ...more },
    })
  /** A user with exactly these claims and no role, signed in. */
  const withClaims = async (username: string, claims: readonly string[]): Promise<string> => {
    expect((await add(username, { roles: [], claims })).status).toBe(201)
    return signIn(username)
  }

  beforeEach(async () => {
    ask = askOf(await newIdentity())
    root = await signIn('root', rootPassword)
  })

  test('a new installation has root, three roles and the claims of the service', async () => {
    const users = (await ask('GET', '/auth/users', { token: root })).body
    expect(users).toMatchObject([{ username: 'root', email: 'root@localhost', isSuperUser: true }])
    expect(users[0].effective_claims).toHaveLength(claimNames.length)
    expect(JSON.stringify(users)).not.toContain('$2b$')
    const roles = (await ask('GET', '/auth/roles', { token: root })).body as { id: string; internal: boolean }[]
    expect(Object.fromEntries(roles.map(({ id, internal }) => [id, internal]))).toEqual({
      ADMIN: false,
      SUPER_USER: true,
      USER: false,
    })
    const claims = (await ask('GET', '/auth/claims', { token: root })).body as { id: string }[]
    expect(claims.map(({ id }) => id)).toEqual(claimNames.filter(name => !plannedClaims.has(name)))
    expect(claims[0]).toMatchObject({ internal: true, group: 'Administration', resource: 'System', action: 'read' })
  })

  test('claims of planned features are not listed; users who hold them keep them', async () => {
    const planned = ['LIST_PACKER_TEMPLATE', 'JOB_MANAGER_DEBUG']
    const grouped = JSON.stringify((await ask('GET', '/auth/claims/grouped', { token: root })).body)
    expect(grouped).toContain('"LIST_VM"')
    expect(grouped).not.toMatch(/REVERSE_PROXY|PACKER|DEBUG/)
    const listed = JSON.stringify((await ask('GET', '/auth/claims', { token: root })).body)
    for (const name of planned) {
      expect(listed).not.toContain(name)
      expect(await ask('GET', `/auth/claims/${name}`, { token: root })).toMatchObject({ status: 200, body: { name } })
    }
    const { effective_claims: held } = (await add('jane')).body
    expect(held).toContainEqual(expect.objectContaining({ name: 'LIST_PACKER_TEMPLATE' }))
    expect(held).toContainEqual(expect.objectContaining({ name: 'REVERT_OWN_VM_SNAPSHOT', source_role: 'USER' }))
  })

  test('a new user has the role USER and its first claims, and is found by id, name and address', async () => {
    const { body } = await add('jane')
    expect(body).toMatchObject({
      username: 'jane',
      roles: ['USER'],
      claims: ['READ_ONLY', 'LIST_CATALOG_MANIFEST', 'LIST_PACKER_TEMPLATE', 'LIST_VM', 'LIST'],
      isSuperUser: false,
    })
    expect(body.effective_claims).toHaveLength(30)
    expect(body.effective_claims).toContainEqual({ id: 'LIST_VM', name: 'LIST_VM', is_inherited: false })
    expect(body.effective_claims).toContainEqual({
      id: 'LIST_CACHE',
      name: 'LIST_CACHE',
      is_inherited: true,
      source_role: 'USER',
    })
    for (const reference of [body.id, 'JANE', 'Jane@Example.test'])
      expect(await ask('GET', `/auth/users/${reference}`, { token: root })).toMatchObject({
        status: 200,
        body: { id: body.id },
      })
    const token = await signIn('jane')
    expect((await ask('GET', '/health/system', { token })).status).toBe(200)
    expect((await ask('GET', '/auth/users', { token })).status).toBe(403)
    expect((await ask('GET', '/auth/users/jane/roles', { token: root })).body).toEqual([{ id: 'USER', name: 'USER' }])
    expect((await ask('GET', '/auth/users/jane/claims', { token: root })).body).toHaveLength(5)
  })

  test('tokens carry all claims that a user has', async () => {
    await add('jane')
    const payload = JSON.parse(Buffer.from((await signIn('jane')).split('.')[1]!, 'base64url').toString())
    expect(payload).toMatchObject({ username: 'jane', email: 'jane@example.test', roles: ['USER'], gen: 0 })
    expect(payload.claims).toHaveLength(30)
  })

  test.for([
    [{ username: '' }, 400, 'username'],
    [{ username: 'a b' }, 400, 'white space'],
    [{ username: 'root@localhost' }, 400, '@'],
    [{ username: '00000000-0000-4000-8000-000000000001' }, 400, 'id'],
    [{ email: 'root' }, 400, 'e-mail'],
    [{ name: '' }, 400, 'name'],
    [{ password: 'short' }, 400, 'at least 12 characters, an upper-case letter, a digit, a special'],
    [{ password: `Aa9-${'é'.repeat(40)}` }, 400, '72 bytes'],
    [{ roles: ['NOBODY'] }, 404, 'NOBODY'],
    [{ claims: ['FLY'] }, 404, 'FLY'],
    [{ username: 'ROOT' }, 409, 'exists'],
    [{ email: 'ROOT@localhost' }, 409, 'exists'],
  ] as const)('a user with %o is refused', async ([wrong, status, reason]) => {
    expect(await add('jane', wrong)).toMatchObject({ status, body: { message: expect.stringContaining(reason) } })
    expect((await ask('GET', '/auth/users', { token: root })).body).toHaveLength(1)
  })

  test('each broken rule of a password is also listed separately', async () => {
    const { body } = await add('jane', { password: 'short' })
    expect(body).toMatchObject({ error: 'password_validation', error_description: body.message })
    expect(body.stack.map((cause: { error: string }) => cause.error)).toHaveLength(4)
  })

  test('a user without a password cannot sign in with any password', async () => {
    expect((await add('service', { password: undefined })).status).toBe(201)
    for (const secret of ['', 'x', password])
      expect((await ask('POST', '/auth/token', { body: { username: 'service', password: secret } })).status).not.toBe(
        200,
      )
  })

  describe('changes act on live tokens at once', () => {
    test('roles and claims', async () => {
      await add('jane')
      const token = await signIn('jane')
      const may = async (): Promise<boolean> => (await ask('GET', '/auth/roles', { token })).status === 200
      expect(await may()).toBe(false)
      expect(await ask('POST', '/auth/users/jane/claims', { token: root, body: { name: 'list_role' } })).toMatchObject({
        status: 201,
        body: { name: 'list_role' },
      })
      expect(await may()).toBe(true)
      expect((await ask('DELETE', '/auth/users/jane/claims/LIST_ROLE', { token: root })).status).toBe(202)
      expect(await may()).toBe(false)

      await ask('POST', '/auth/roles', { token: root, body: { name: 'role reader', claims: ['LIST_CLAIM'] } })
      await ask('POST', '/auth/users/jane/roles', { token: root, body: { name: 'ROLE_READER' } })
      expect(await may()).toBe(false)
      expect(
        (await ask('POST', '/auth/roles/role_reader/claims', { token: root, body: { name: 'LIST_ROLE' } })).status,
      ).toBe(201)
      expect(await may()).toBe(true)
      expect((await ask('DELETE', '/auth/roles/ROLE_READER/claims/LIST_ROLE', { token: root })).status).toBe(202)
      expect(await may()).toBe(false)
    })

    test('a new password ends every token of the old one', async () => {
      await add('jane')
      const token = await signIn('jane')
      expect(
        (await ask('PUT', '/auth/users/jane', { token: root, body: { password: 'Third-Horse-5-Battery' } })).status,
      ).toBe(202)
      expect(await ask('GET', '/health/system', { token })).toMatchObject({
        status: 401,
        body: { message: expect.stringContaining('password was changed') },
      })
      expect((await ask('POST', '/auth/token', { body: { username: 'jane', password } })).status).toBe(401)
      expect(await signIn('jane', 'Third-Horse-5-Battery')).toBeTypeOf('string')
    })

    test('a deleted user: the token, the API keys and the name', async () => {
      await add('jane', { is_super_user: true })
      const token = await signIn('jane')
      const key = (await ask('POST', '/auth/api_keys', { token, body: { name: 'hers' } })).body.encoded
      expect((await ask('GET', '/health/system', { apiKey: key })).status).toBe(200)
      expect((await ask('DELETE', '/auth/users/JANE', { token: root })).status).toBe(202)
      expect((await ask('GET', '/health/system', { token })).status).toBe(401)
      expect((await ask('GET', '/health/system', { apiKey: key })).status).toBe(401)
      expect((await ask('GET', '/auth/api_keys', { token: root })).body).toEqual([])
      expect((await add('jane')).status).toBe(201)
      expect((await ask('GET', '/health/system', { token })).status).toBe(401)
    })
  })

  describe('nobody can give, take or become what they do not hold', () => {
    const manager = ['LIST_USER', 'CREATE_USER', 'UPDATE_USER', 'DELETE_USER', 'CREATE_ROLE', 'UPDATE_ROLE', 'LIST_VM']

    test('claims and roles', async () => {
      const token = await withClaims('manager', manager)
      await add('jane', { roles: [], claims: [] })
      const give = (kind: string, name: string, who = 'jane') =>
        ask('POST', `/auth/users/${who}/${kind}`, { token, body: { name } })
      expect((await give('claims', 'LIST_VM')).status).toBe(201)
      for (const who of ['jane', 'manager']) {
        expect((await give('claims', 'DELETE_VM', who)).status).toBe(403)
        for (const role of ['SUPER_USER', 'ADMIN', 'USER']) expect((await give('roles', role, who)).status).toBe(403)
      }
      // A role without claims is something too: catalogs ask for roles by name.
      await ask('POST', '/auth/roles', { token, body: { name: 'PAYROLL' } })
      expect((await give('roles', 'PAYROLL', 'manager')).status).toBe(403)
    })

    test('new users and roles', async () => {
      const token = await withClaims('manager', manager)
      for (const more of [
        { is_super_user: true },
        { roles: ['ADMIN'] },
        { roles: ['SUPER_USER'] },
        { roles: [], claims: ['DELETE_VM'] },
        {},
      ])
        expect((await add('new', more, token)).status).toBe(403)
      expect((await add('new', { roles: [], claims: ['LIST_VM'] }, token)).status).toBe(201)
      const role = (claims: string[]) => ask('POST', '/auth/roles', { token, body: { name: 'mine', claims } })
      expect((await role(['DELETE_VM'])).status).toBe(403)
      expect((await role(['LIST_VM'])).status).toBe(201)
      expect((await ask('POST', '/auth/roles/mine/claims', { token, body: { name: 'DELETE_VM' } })).status).toBe(403)
    })

    test('a user with more rights cannot be changed, so nobody can act as them', async () => {
      const token = await withClaims('manager', manager)
      await add('super', { is_super_user: true })
      await add('jane')
      for (const who of ['root', 'super', 'jane']) {
        for (const body of [{ password: 'Third-Horse-5-Battery' }, { email: 'me@example.test' }])
          expect((await ask('PUT', `/auth/users/${who}`, { token, body })).status, who).toBe(403)
        expect((await ask('DELETE', `/auth/users/${who}`, { token })).status, who).toBe(403)
        expect((await ask('DELETE', `/auth/users/${who}/claims/LIST_VM`, { token })).status, who).toBe(403)
        expect((await ask('DELETE', `/auth/users/${who}/lock`, { token })).status, who).toBe(403)
      }
      expect(await signIn('super')).toBeTypeOf('string')
    })

    test('only root can change root, and nobody can take its rights', async () => {
      await add('super', { is_super_user: true })
      const token = await signIn('super')
      expect((await ask('PUT', '/auth/users/root', { token, body: { password } })).status).toBe(403)
      for (const by of [token, root]) {
        expect((await ask('DELETE', '/auth/users/root', { token: by })).status).toBe(403)
        expect((await ask('DELETE', '/auth/users/root/roles/SUPER_USER', { token: by })).status).toBe(403)
      }
      expect((await ask('PUT', '/auth/users/root', { token: root, body: { name: 'The root' } })).status).toBe(202)
      // Any other super user can go, the last of them is root.
      expect((await ask('DELETE', '/auth/users/super/roles/SUPER_USER', { token: root })).status).toBe(202)
      expect((await ask('GET', '/auth/users', { token })).body.code ?? 200).toBe(200)
      expect((await ask('PUT', `/auth/api_keys/x/revoke`, { token })).status).toBe(403)
    })

    test('a narrowed key cannot get the rights of its owner', async () => {
      await add('super', { is_super_user: true })
      const token = await signIn('super')
      const key = await ask('POST', '/auth/api_keys', { token, body: { name: 'narrow', claims: ['UPDATE_USER'] } })
      const apiKey = key.body.encoded
      for (const who of ['super', 'root'])
        expect((await ask('PUT', `/auth/users/${who}`, { apiKey, body: { password } })).status).toBe(403)
      expect((await ask('POST', '/auth/users/super/claims', { apiKey, body: { name: 'LIST_VM' } })).status).toBe(403)
    })
  })

  describe('roles', () => {
    test('are not removed when they are internal or a user has them', async () => {
      expect((await ask('DELETE', '/auth/roles/SUPER_USER', { token: root })).status).toBe(403)
      expect((await ask('POST', '/auth/roles/SUPER_USER/claims', { token: root, body: { name: 'LIST' } })).status).toBe(
        403,
      )
      await ask('POST', '/auth/roles', { token: root, body: { name: 'ops', claims: ['LIST_VM'] } })
      await add('jane', { roles: ['ops'] })
      expect(await ask('DELETE', '/auth/roles/OPS', { token: root })).toMatchObject({
        status: 409,
        body: { message: expect.stringContaining('jane') },
      })
      expect((await ask('GET', '/auth/roles/ops', { token: root })).body).toMatchObject({
        id: 'OPS',
        claims: [{ id: 'LIST_VM' }],
        users: [{ username: 'jane' }],
      })
      expect((await ask('GET', '/auth/roles/ops/claims', { token: root })).body).toMatchObject([{ id: 'LIST_VM' }])
      await ask('DELETE', '/auth/users/jane/roles/ops', { token: root })
      expect((await ask('DELETE', '/auth/roles/OPS', { token: root })).status).toBe(202)
      expect((await ask('GET', '/auth/roles/OPS', { token: root })).status).toBe(404)
    })

    test('leave nobody with a removed role when they are granted and removed at once', async () => {
      for (let round = 0; round < 10; round += 1) {
        const name = `R${round}`
        await ask('POST', '/auth/roles', { token: root, body: { name } })
        if (round === 0) await add('jane')
        const [given, removed] = await Promise.all([
          ask('POST', '/auth/users/jane/roles', { token: root, body: { name } }),
          ask('DELETE', `/auth/roles/${name}`, { token: root }),
        ])
        expect([given.status, removed.status]).toEqual(given.status === 201 ? [201, 409] : [404, 202])
      }
    })

    test('are created once when two requests create them at once', async () => {
      const all = await Promise.all(
        Array.from({ length: 10 }, () => ask('POST', '/auth/roles', { token: root, body: { name: 'one' } })),
      )
      expect(all.filter(({ status }) => status === 201)).toHaveLength(1)
      expect(all.filter(({ status }) => status === 409)).toHaveLength(9)
    })
  })

  describe('claims', () => {
    test('can be added for catalogs, are listed in groups, and are removed when no user holds them', async () => {
      expect(await ask('POST', '/auth/claims', { token: root, body: { name: 'see payroll' } })).toMatchObject({
        status: 201,
        body: { id: 'SEE_PAYROLL', internal: false },
      })
      expect((await ask('POST', '/auth/claims', { token: root, body: { name: 'SEE_PAYROLL' } })).status).toBe(409)
      expect((await ask('POST', '/auth/claims', { token: root, body: { name: 'LIST_VM' } })).status).toBe(409)
      const groups = (await ask('GET', '/auth/claims/grouped', { token: root })).body as { group: string }[]
      expect(groups.map(({ group }) => group)).toEqual([
        'Administration',
        'VMs',
        'Catalog',
        'Catalog Manager',
        'Cache',
        'Jobs',
        'Hosts',
        'SSH',
        'Custom',
      ])
      await add('jane', { claims: ['SEE_PAYROLL'] })
      await ask('POST', '/auth/roles', { token: root, body: { name: 'payroll', claims: ['SEE_PAYROLL'] } })
      expect((await ask('DELETE', '/auth/claims/SEE_PAYROLL', { token: root })).status).toBe(409)
      await ask('DELETE', '/auth/users/jane/claims/SEE_PAYROLL', { token: root })
      expect((await ask('DELETE', '/auth/claims/SEE_PAYROLL', { token: root })).status).toBe(202)
      expect((await ask('GET', '/auth/roles/payroll', { token: root })).body.claims).toEqual([])
      expect((await ask('DELETE', '/auth/claims/LIST_VM', { token: root })).status).toBe(403)
    })

    test('of a role are removed only by a caller who holds them; unused ones by any caller with the right to remove claims', async () => {
      for (const name of ['SEE_PAYROLL', 'UNUSED']) await ask('POST', '/auth/claims', { token: root, body: { name } })
      await ask('POST', '/auth/roles', { token: root, body: { name: 'payroll', claims: ['SEE_PAYROLL'] } })
      const token = await withClaims('clerk', ['DELETE_CLAIM'])
      expect(await ask('DELETE', '/auth/claims/SEE_PAYROLL', { token })).toMatchObject({
        status: 403,
        body: { message: expect.stringContaining('SEE_PAYROLL') },
      })
      expect((await ask('GET', '/auth/roles/payroll', { token: root })).body.claims).toHaveLength(1)
      expect((await ask('DELETE', '/auth/claims/UNUSED', { token })).status).toBe(202)
      await ask('POST', '/auth/users/clerk/roles', { token: root, body: { name: 'payroll' } })
      expect((await ask('DELETE', '/auth/claims/SEE_PAYROLL', { token })).status).toBe(202)
    })

    test('a misspelled claim is found by its correct spelling too', async () => {
      await add('jane', { roles: [], claims: [] })
      await ask('POST', '/auth/users/jane/claims', { token: root, body: { name: 'DELETE_CACHE_ITEM' } })
      expect((await ask('GET', '/auth/users/jane', { token: root })).body.claims).toEqual(['DELET_CACHE_ITEM'])
    })
  })

  test.for([
    ['/auth/users', 'username=^ja', 1],
    ['/auth/users', 'isSuperUser=true', 1],
    ['/auth/roles', 'internal=true', 1],
    ['/auth/claims', 'group=^cache$,i', 3],
  ] as const)('%s can be filtered by %s', async ([path, filter, count]) => {
    await add('jane')
    expect((await ask('GET', path, { token: root, headers: { 'x-filter': filter } })).body).toHaveLength(count)
  })

  test('a filter by a member that replies do not have is refused', async () => {
    const asked = await ask('GET', '/auth/users', { token: root, headers: { 'x-filter': 'password=.' } })
    expect(asked.status).toBe(400)
  })
})
