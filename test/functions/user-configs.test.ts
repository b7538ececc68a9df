import { describe, expect } from 'vitest'
import { type Answer, type Call, test } from '../support/harness.ts'

const me = { as: ['LIST'] }
const other = { as: ['other', '*'] }
const at = (reference: string): string => `/api/v1/user/configs/${encodeURIComponent(reference)}`
const create = (call: Call, body?: unknown, who: { as: string[] } = me): Promise<Answer> =>
  call('POST', '/api/v1/user/configs', { ...who, ...(body !== undefined && { body }) })

describe('user configs', () => {
  test('are stored, found by id and slug, changed and deleted', async ({ call }) => {
    const made = await create(call, { slug: 'api-keys::tableSettings', name: 'Table', type: 'json', value: '{"a":1}' })
    expect(made).toMatchObject({
      status: 201,
      body: { slug: 'api-keys::tableSettings', name: 'Table', type: 'json', value: '{"a":1}' },
    })
    const { id } = made.body
    for (const reference of [id, id.toUpperCase(), 'API-keys::tablesettings'])
      expect(await call('GET', at(reference), me)).toMatchObject({ status: 200, body: { id } })
    expect(await call('PUT', at('api-keys::tableSettings'), { ...me, body: { value: '{"a":2}' } })).toMatchObject({
      status: 200,
      body: { id, name: 'Table', type: 'json', value: '{"a":2}' },
    })
    expect((await call('PUT', at(id), { ...me, body: {} })).body).toMatchObject({ value: '{"a":2}' })
    expect((await call('PUT', at(id), me)).status).toBe(200)
    expect((await call('GET', '/api/v1/user/configs', me)).body).toHaveLength(1)
    expect(await call('DELETE', at(id), me)).toMatchObject({ status: 202, body: { code: 202 } })
    expect((await call('GET', at(id), me)).status).toBe(404)
  })

  test('belong to their user, and nobody else sees them', async ({ call }) => {
    const { id } = (await create(call, { slug: 'mine', value: 'x' })).body
    for (const reference of [id, 'mine']) {
      expect((await call('GET', at(reference), other)).status).toBe(404)
      expect((await call('PUT', at(reference), { ...other, body: { value: 'y' } })).status).toBe(404)
      expect((await call('DELETE', at(reference), other)).status).toBe(404)
    }
    expect((await create(call, { slug: 'mine' }, other)).status).toBe(201)
    expect((await call('GET', '/api/v1/user/configs', other)).body).toHaveLength(1)
    expect((await call('GET', at('mine'), me)).body.value).toBe('x')
    expect((await call('GET', '/api/v1/user/configs', { as: null })).status).toBe(401)
  })

  test('an empty body creates one with a generated slug', async ({ call }) => {
    const [first, second] = [await create(call), await create(call, {})]
    expect([first.status, second.status]).toEqual([201, 201])
    expect(first.body.slug).not.toBe(second.body.slug)
    expect(first.body).toMatchObject({ type: 'string', value: '' })
    expect((await call('PUT', at('nothing'), { ...me, body: { value: 'x' } })).status).toBe(404)
  })

  test('have unique slugs, also when two requests use one slug at once', async ({ call }) => {
    const all = await Promise.all(Array.from({ length: 20 }, () => create(call, { slug: 'one' })))
    expect(all.filter(({ status }) => status === 201)).toHaveLength(1)
    expect(all.filter(({ status }) => status === 409)).toHaveLength(19)
    expect((await create(call, { slug: 'ONE' })).status).toBe(409)
  })

  test.for([
    [{ type: 'bool', value: 'true' }, 'true'],
    [{ type: 'bool', value: false }, 'false'],
    [{ type: 'int', value: '-42' }, '-42'],
    [{ type: 'int', value: 7 }, '7'],
    [{ type: 'json', value: { deep: [1, '"'] } }, '{"deep":[1,"\\""]}'],
    [{ type: 'json', value: '{"__proto__":{"x":1}}' }, '{"__proto__":{"x":1}}'],
    [{ type: 'int' }, '0'],
    [{ type: 'string', value: '007' }, '007'],
    [{ value: 'grüße 🦊' }, 'grüße 🦊'],
    [{ value: '' }, ''],
  ] as const)('%o is stored as %s', async ([body, value], { call }) => {
    const made = (await create(call, body)).body
    expect((await call('GET', at(made.id), me)).body.value).toBe(value)
  })

  test.for([
    [{ type: 'bool', value: 'yes' }, 'true or false'],
    [{ type: 'int', value: '1.5' }, 'whole number'],
    [{ type: 'int', value: '99999999999999999999' }, 'whole number'],
    [{ type: 'json', value: '{' }, 'JSON'],
    [{ type: 'date' }, 'string, bool, int or json'],
    [{ slug: '' }, 'slug'],
    [{ slug: 'a\nb' }, 'control'],
    [{ slug: 'x'.repeat(129) }, '128'],
    [{ value: 'x'.repeat(65_537) }, '65536 bytes'],
  ] as const)('%o is refused', async ([body, reason], { call }) => {
    expect(await create(call, body)).toMatchObject({ status: 400, body: { message: expect.stringContaining(reason) } })
    expect((await call('GET', '/api/v1/user/configs', me)).body).toEqual([])
  })

  test('a change of the type requires a value that fits it', async ({ call }) => {
    const { id } = (await create(call, { slug: 'one', value: 'text' })).body
    expect((await call('PUT', at(id), { ...me, body: { type: 'int' } })).status).toBe(400)
    expect((await call('PUT', at(id), { ...me, body: { type: 'int', value: 5 } })).body).toMatchObject({ value: '5' })
    expect((await call('PUT', at(id), { ...me, body: { type: 'string', value: '' } })).body).toMatchObject({
      value: '',
    })
  })

  test('accept any printable slug', async ({ call }) => {
    for (const slug of ['__proto__', 'constructor', 'a/b', 'ümläut', '100%', '..'])
      expect((await create(call, { slug, value: slug })).status, slug).toBe(201)
    for (const slug of ['__proto__', 'constructor', 'a/b', 'ümläut', '100%'])
      expect((await call('GET', at(slug), me)).body.value, slug).toBe(slug)
  })

  test('are limited to 500 per user, and can be filtered', async ({ call }) => {
    for (let made = 0; made < 500; made += 1) await create(call, { slug: `s${made}` })
    expect(await create(call, { slug: 'more' })).toMatchObject({ status: 409 })
    const headers = { 'x-filter': 'slug=^s49\\d$' }
    expect((await call('GET', '/api/v1/user/configs', { ...me, headers })).body).toHaveLength(10)
  })
})
