import type { Area } from '../case.ts'
import { has, hasLength, matches } from '../expectation.ts'
import { answers, audited, gone, lists, omits, published, shows } from './effects.ts'

const configs = '/v1/user/configs'

const stored = (slug: string, type: string, value: unknown, text: string) =>
  ({
    name: `create a setting ${slug} of type ${type}`,
    request: ['POST', configs, { slug, name: slug, type, value }],
    status: 201,
    reply: { slug, type, value: text },
    effects: [shows(`${configs}/${slug}`, { type, value: text })],
  }) as const

export const userConfigArea: Area = {
  name: 'user settings',
  people: { jane: {}, mary: {} },
  cases: [
    { name: 'a new user has no settings', as: 'jane', request: ['GET', configs], status: 200, reply: [] },
    {
      name: 'create a setting',
      as: 'jane',
      request: ['POST', configs, { slug: 'theme', name: 'Theme', value: 'dark' }],
      status: 201,
      reply: { slug: 'theme', type: 'string', value: 'dark', user_id: '{janeId}' },
      saves: { theme: 'id' },
      effects: [
        shows(`${configs}/theme`, { id: '{theme}', value: 'dark' }, 'jane'),
        shows(configs, hasLength(1), 'jane'),
        audited('user-configs/create', { username: 'jane' }),
      ],
    },
    {
      name: 'show a setting by its id',
      as: 'jane',
      request: ['GET', `${configs}/{theme}`],
      status: 200,
      reply: { slug: 'theme' },
    },
    {
      name: 'show a setting in any case',
      as: 'jane',
      request: ['GET', `${configs}/THEME`],
      status: 200,
      reply: { id: '{theme}' },
    },
    {
      name: 'the settings of another user do not exist',
      as: 'mary',
      request: ['GET', `${configs}/{theme}`],
      status: 404,
    },
    {
      name: 'create a setting again',
      as: 'jane',
      request: ['POST', configs, { slug: 'Theme', value: 'light' }],
      status: 409,
    },
    {
      name: 'another user has a setting of the same name',
      as: 'mary',
      request: ['POST', configs, { slug: 'theme', value: 'light' }],
      status: 201,
      effects: [
        shows(`${configs}/theme`, { value: 'light' }, 'mary'),
        shows(`${configs}/theme`, { value: 'dark' }, 'jane'),
      ],
    },
    {
      name: 'change the value of a setting',
      as: 'jane',
      request: ['PUT', `${configs}/theme`, { value: 'light' }],
      status: 200,
      reply: { id: '{theme}', value: 'light', name: 'Theme' },
      effects: [
        shows(`${configs}/theme`, { value: 'light', name: 'Theme' }, 'jane'),
        audited('user-configs/update', { username: 'jane' }),
      ],
    },
    {
      name: 'change the name of a setting',
      as: 'jane',
      request: ['PUT', `${configs}/{theme}`, { name: 'Colours' }],
      status: 200,
      effects: [shows(`${configs}/theme`, { name: 'Colours', value: 'light' }, 'jane')],
    },
    {
      name: 'change the type of a setting',
      as: 'jane',
      request: ['PUT', `${configs}/theme`, { type: 'int', value: 7 }],
      status: 200,
      reply: { type: 'int', value: '7' },
      effects: [shows(`${configs}/theme`, { type: 'int', value: '7' }, 'jane')],
    },
    {
      name: 'a value that does not fit the type',
      as: 'jane',
      request: ['PUT', `${configs}/theme`, { value: 'seven' }],
      status: 400,
    },
    stored('flag', 'bool', true, 'true'),
    stored('count', 'int', 42, '42'),
    stored('layout', 'json', { a: [1, 2] }, '{"a":[1,2]}'),
    stored('text', 'string', 'ä\u{1F4A9}', 'ä\u{1F4A9}'),
    stored('long', 'string', 'x'.repeat(60_000), 'x'.repeat(60_000)),
    {
      name: 'create a setting without a slug',
      request: ['POST', configs, { value: 'made up' }],
      status: 201,
      reply: { slug: matches(/./) },
      saves: { nameless: 'id' },
      effects: [shows(`${configs}/{nameless}`, { value: 'made up' })],
    },
    {
      name: 'a value that is too long',
      request: ['POST', configs, { slug: 'longer', value: 'x'.repeat(70_000) }],
      status: 400,
      effects: [gone(`${configs}/longer`)],
    },
    {
      name: 'a type that there is not',
      request: ['POST', configs, { slug: 'x', type: 'date', value: '' }],
      status: 400,
    },
    {
      name: 'a slug with control characters',
      request: ['POST', configs, { slug: 'a\u0000b', value: '' }],
      status: 400,
    },
    {
      name: 'filter the settings',
      request: ['GET', configs, undefined, { 'x-filter': 'type=^bool$' }],
      status: 200,
      reply: [{ slug: 'flag' }],
    },
    {
      name: 'list the settings',
      request: ['GET', configs],
      status: 200,
      reply: has({ slug: 'flag' }, { slug: 'layout' }),
    },
    {
      name: 'the same Idempotency-Key creates a setting once',
      request: ['POST', configs, { value: 'once' }, { 'idempotency-key': 'c-1' }],
      status: 201,
      saves: { once: 'id', onceSlug: 'slug' },
      effects: [
        answers(201, ['POST', configs, { value: 'once' }, { 'idempotency-key': 'c-1' }], 'root', { id: '{once}' }),
        lists(configs, { id: '{once}' }),
      ],
    },
    {
      name: 'delete a setting',
      as: 'jane',
      request: ['DELETE', `${configs}/theme`],
      status: 202,
      effects: [
        { as: 'jane', ...gone(`${configs}/theme`) },
        { as: 'mary', ...shows(`${configs}/theme`, { value: 'light' }, 'mary') },
        audited('user-configs/delete', { username: 'jane' }),
      ],
    },
    {
      name: 'delete a setting by its id',
      request: ['DELETE', `${configs}/{once}`],
      status: 202,
      effects: [omits(configs, { id: '{once}' })],
    },
    {
      name: 'the settings of a deleted user go with the user',
      request: ['DELETE', '/v1/auth/users/mary'],
      status: 202,
      effects: [answers(401, ['GET', configs], 'mary'), published('auth', 'USER_REMOVED', { user_id: '{maryId}' })],
    },
  ],
}
