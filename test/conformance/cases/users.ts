import type { Area } from '../case.ts'
import { has, hasLength, matches, present } from '../expectation.ts'
import { answers, audited, gone, lists, omits, published, shows } from './effects.ts'

const users = '/v1/auth/users'
const jane = `${users}/jane`
const full = { username: 'jane', name: 'Jane', email: 'jane@example.org', password: 'Another-Horse-7-Battery' }

export const userArea: Area = {
  name: 'users',
  people: {
    helper: { claims: ['LIST_USER', 'CREATE_USER', 'UPDATE_USER', 'DELETE_USER'] },
    plain: { roles: ['USER'] },
  },
  cases: [
    {
      name: 'list the users',
      request: ['GET', users],
      status: 200,
      reply: has({ username: 'root', isSuperUser: true }, { username: 'helper', roles: [] }),
    },
    {
      name: 'create a user',
      request: ['POST', users, full],
      status: 201,
      reply: { username: 'jane', email: 'jane@example.org', roles: ['USER'], isSuperUser: false },
      saves: { jane: 'id' },
      effects: [
        shows(`${users}/{jane}`, { username: 'jane', name: 'Jane', roles: ['USER'] }),
        published('auth', 'USER_ADDED', { user_id: '{jane}' }),
        audited('users/create', { status: 201, details: { username: 'jane', email: 'jane@example.org' } }),
      ],
    },
    {
      name: 'show a user by e-mail address in any case',
      request: ['GET', `${users}/JANE@example.org`],
      status: 200,
      reply: { id: '{jane}' },
    },
    {
      name: 'show a user by name in any case',
      request: ['GET', `${users}/Jane`],
      status: 200,
      reply: { id: '{jane}' },
    },
    {
      name: 'a user signs in with the password of the creation',
      as: 'anonymous',
      request: ['POST', '/v1/auth/token', { username: 'jane', password: full.password }],
      status: 200,
      reply: { email: 'jane@example.org', token: matches(/^eyJ/) },
      effects: [audited('auth/sign-in', { username: 'jane', user_id: '{jane}' })],
    },
    {
      name: 'a user name that is taken',
      request: ['POST', users, { ...full, email: 'other@example.org' }],
      status: 409,
    },
    { name: 'an e-mail address that is taken', request: ['POST', users, { ...full, username: 'other' }], status: 409 },
    {
      name: 'a password that is too short',
      request: ['POST', users, { ...full, username: 'other', email: 'o@example.org', password: 'short' }],
      status: 400,
    },
    {
      name: 'a password without digits',
      request: [
        'POST',
        users,
        { ...full, username: 'other', email: 'o@example.org', password: 'Another-Horse-Battery' },
      ],
      status: 400,
    },
    {
      name: 'a user name with a blank',
      request: ['POST', users, { ...full, username: 'o ther' }],
      status: 400,
      reply: { stack: has({ path: 'username' }) },
    },
    {
      name: 'create a user without a password, who cannot sign in with one',
      request: ['POST', users, { username: 'keyed', name: 'Keyed', email: 'keyed@example.org', roles: [] }],
      status: 201,
      reply: { roles: [] },
      effects: [
        shows(`${users}/keyed`, { roles: [] }),
        answers(
          401,
          ['POST', '/v1/auth/token', { username: 'keyed', password: 'Another-Horse-7-Battery' }],
          'anonymous',
        ),
      ],
    },
    {
      name: 'create a super user',
      request: ['POST', users, { username: 'admin', name: 'Admin', email: 'admin@example.org', is_super_user: true }],
      status: 201,
      reply: { isSuperUser: true },
      effects: [shows(`${users}/admin`, { roles: has('SUPER_USER') }), audited('users/create')],
    },
    {
      name: 'create a user with a claim',
      request: [
        'POST',
        users,
        { username: 'claimed', name: 'C', email: 'c@example.org', roles: [], claims: ['list_vm'] },
      ],
      status: 201,
      reply: { claims: ['LIST_VM'] },
      effects: [shows(`${users}/claimed/claims`, [{ id: 'LIST_VM', name: 'LIST_VM' }])],
    },
    {
      name: 'create a user with a role that there is not',
      request: ['POST', users, { username: 'other', name: 'O', email: 'o@example.org', roles: ['NOBODY'] }],
      status: 404,
    },
    {
      name: 'a helper may not make a super user',
      as: 'helper',
      request: ['POST', users, { username: 'other', name: 'O', email: 'o@example.org', is_super_user: true }],
      status: 403,
      effects: [gone(`${users}/other`)],
    },
    {
      name: 'a helper creates a user without rights',
      as: 'helper',
      request: ['POST', users, { username: 'helped', name: 'H', email: 'h@example.org', roles: [], claims: [] }],
      status: 201,
      effects: [shows(`${users}/helped`, { claims: [] }), audited('users/create', { username: 'helper' })],
    },
    {
      name: 'change the name of a user',
      request: ['PUT', jane, { name: 'Jane Doe' }],
      status: 202,
      reply: { code: 202 },
      effects: [
        shows(jane, { name: 'Jane Doe', email: 'jane@example.org' }),
        published('auth', 'USER_UPDATED', { user_id: '{jane}' }),
        audited('users/update', { details: { name: 'Jane Doe' } }),
      ],
    },
    {
      name: 'change the e-mail address of a user',
      request: ['PUT', jane, { email: 'doe@example.org' }],
      status: 202,
      effects: [shows(`${users}/doe@example.org`, { id: '{jane}' }), gone(`${users}/jane@example.org`)],
    },
    {
      name: 'an e-mail address of somebody else',
      request: ['PUT', jane, { email: 'keyed@example.org' }],
      status: 409,
    },
    {
      name: 'change the password of a user, which ends the tokens',
      request: ['PUT', jane, { password: 'Third-Horse-8-Battery' }],
      status: 202,
      effects: [
        answers(401, ['POST', '/v1/auth/token', { username: 'jane', password: full.password }], 'anonymous'),
        answers(200, ['POST', '/v1/auth/token', { username: 'jane', password: 'Third-Horse-8-Battery' }], 'anonymous'),
      ],
    },
    { name: 'change nothing of a user', request: ['PUT', jane, {}], status: 400 },
    {
      name: 'give a user a claim',
      request: ['POST', `${jane}/claims`, { name: 'create_vm' }],
      status: 201,
      effects: [
        lists(`${jane}/claims`, { id: 'CREATE_VM', name: 'CREATE_VM' }),
        published('auth', 'USER_CLAIM_ADDED', { user_id: '{jane}', claim_id: 'CREATE_VM' }),
        audited('users/give-claim', { details: { name: 'create_vm' } }),
        shows(jane, { effective_claims: has({ name: 'CREATE_VM', is_inherited: false }) }),
      ],
    },
    {
      name: 'give a user a claim that there is not',
      request: ['POST', `${jane}/claims`, { name: 'NONE' }],
      status: 404,
    },
    {
      name: 'a helper may not give a claim that they do not hold',
      as: 'helper',
      request: ['POST', `${jane}/claims`, { name: 'DELETE_VM' }],
      status: 403,
      effects: [omits(`${jane}/claims`, { name: 'DELETE_VM' })],
    },
    {
      name: 'a helper gives a claim that they hold',
      as: 'helper',
      request: ['POST', `${jane}/claims`, { name: 'LIST_USER' }],
      status: 201,
      effects: [lists(`${jane}/claims`, { name: 'LIST_USER' }), audited('users/give-claim', { username: 'helper' })],
    },
    {
      name: 'take a claim from a user',
      request: ['DELETE', `${jane}/claims/create_vm`],
      status: 202,
      effects: [
        omits(`${jane}/claims`, { name: 'CREATE_VM' }),
        published('auth', 'USER_CLAIM_REMOVED', { user_id: '{jane}', claim_id: 'CREATE_VM' }),
        audited('users/take-claim'),
      ],
    },
    { name: 'take a claim that a user does not hold', request: ['DELETE', `${jane}/claims/CREATE_VM`], status: 404 },
    {
      name: 'give a user a role',
      request: ['POST', `${jane}/roles`, { name: 'super_user' }],
      status: 201,
      effects: [
        lists(`${jane}/roles`, { id: 'SUPER_USER', name: 'SUPER_USER' }),
        shows(jane, { isSuperUser: true }),
        published('auth', 'USER_ROLE_ADDED', { user_id: '{jane}', role_id: 'SUPER_USER' }),
      ],
    },
    { name: 'give a user a role that there is not', request: ['POST', `${jane}/roles`, { name: 'NONE' }], status: 404 },
    {
      name: 'take a role from a user',
      request: ['DELETE', `${jane}/roles/super_user`],
      status: 202,
      effects: [
        omits(`${jane}/roles`, { name: 'SUPER_USER' }),
        shows(jane, { isSuperUser: false }),
        published('auth', 'USER_ROLE_REMOVED', { user_id: '{jane}', role_id: 'SUPER_USER' }),
        audited('users/take-role'),
      ],
    },
    {
      name: 'list the roles of a user',
      request: ['GET', `${jane}/roles`],
      status: 200,
      reply: [{ id: 'USER', name: 'USER' }],
    },
    {
      name: 'filter the users by their name',
      request: ['GET', users, undefined, { 'x-filter': 'username=^ja' }],
      status: 200,
      reply: hasLength(1),
    },
    {
      name: 'filter the users by a member that they do not have',
      request: ['GET', users, undefined, { 'x-filter': 'colour=red' }],
      status: 400,
    },
    {
      name: 'the rights of a plain user end at the users',
      as: 'plain',
      request: ['GET', users],
      status: 403,
      reply: { message: matches(/LIST_USER/) },
    },
    ...['1', '2', '3', '4', '5'].map(turn => ({
      name: `a wrong password, time ${turn}`,
      as: 'anonymous',
      request: ['POST', '/v1/auth/token', { username: 'jane', password: 'wrong' }] as const,
      status: 401,
      reply: { error: 'invalid_grant' },
    })),
    {
      name: 'after five wrong passwords the account is locked',
      as: 'anonymous',
      request: ['POST', '/v1/auth/token', { username: 'jane', password: 'Third-Horse-8-Battery' }],
      status: 429,
      reply: { error: 'user_blocked' },
      headers: { 'retry-after': present },
      effects: [shows(jane, { locked_until: present })],
    },
    {
      name: 'unlock a user',
      request: ['DELETE', `${jane}/lock`],
      status: 202,
      effects: [
        shows(jane, { locked_until: undefined }),
        answers(200, ['POST', '/v1/auth/token', { username: 'jane', password: 'Third-Horse-8-Battery' }], 'anonymous'),
      ],
    },
    {
      name: 'the same Idempotency-Key creates a user once',
      request: [
        'POST',
        users,
        { username: 'once', name: 'Once', email: 'once@example.org' },
        { 'idempotency-key': 'u-1' },
      ],
      status: 201,
      saves: { once: 'id' },
      effects: [shows(`${users}/once`, { id: '{once}' })],
    },
    {
      name: 'the same Idempotency-Key again gives the first reply',
      request: [
        'POST',
        users,
        { username: 'once', name: 'Once', email: 'once@example.org' },
        { 'idempotency-key': 'u-1' },
      ],
      status: 201,
      reply: { id: '{once}' },
      effects: [shows(users, has({ id: '{once}' }))],
    },
    {
      name: 'the same Idempotency-Key for another request',
      request: ['POST', users, { username: 'twice', name: 'T', email: 't@example.org' }, { 'idempotency-key': 'u-1' }],
      status: 409,
      effects: [gone(`${users}/twice`)],
    },
    {
      name: 'delete a user',
      request: ['DELETE', `${users}/{jane}`],
      status: 202,
      effects: [
        gone(jane),
        omits(users, { username: 'jane' }),
        published('auth', 'USER_REMOVED', { user_id: '{jane}' }),
        audited('users/delete'),
        answers(401, ['POST', '/v1/auth/token', { username: 'jane', password: 'Third-Horse-8-Battery' }], 'anonymous'),
      ],
    },
    {
      name: 'delete a user by name, with the API key',
      request: ['DELETE', `${users}/plain`],
      status: 202,
      effects: [gone(`${users}/plain`), answers(401, ['GET', '/v1/user/configs'], 'plain')],
    },
    {
      name: 'delete the user root',
      request: ['DELETE', `${users}/root`],
      status: 403,
      effects: [shows(`${users}/root`, { username: 'root' })],
    },
  ],
}
