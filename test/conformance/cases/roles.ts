import type { Area } from '../case.ts'
import { has, hasLength, present } from '../expectation.ts'
import { answers, audited, gone, lists, omits, published, shows } from './effects.ts'

const [roles, claims, users] = ['/v1/auth/roles', '/v1/auth/claims', '/v1/auth/users']

export const roleArea: Area = {
  name: 'roles and claims',
  people: { tester: {}, helper: { claims: ['CREATE_ROLE', 'UPDATE_ROLE', 'LIST_ROLE'] } },
  cases: [
    {
      name: 'list the roles of a new service',
      request: ['GET', roles],
      status: 200,
      reply: has({ id: 'SUPER_USER', internal: true }, { id: 'USER', internal: false }),
    },
    {
      name: 'list the claims of a new service',
      request: ['GET', claims],
      status: 200,
      reply: has({ id: 'LIST_VM', internal: true }),
    },
    {
      name: 'list the claims by what they protect',
      request: ['GET', `${claims}/grouped`],
      status: 200,
      reply: has({ group: 'VMs' }, { group: 'Catalog' }),
    },
    {
      name: 'show a claim in any case',
      request: ['GET', `${claims}/list_vm`],
      status: 200,
      reply: { id: 'LIST_VM', users: [{ username: 'root' }] },
    },
    {
      name: 'create a claim',
      request: ['POST', claims, { name: 'staging', description: 'May see what is in staging' }],
      status: 201,
      reply: { id: 'STAGING', internal: false },
      effects: [
        shows(`${claims}/STAGING`, { description: 'May see what is in staging', users: [] }),
        lists(claims, { id: 'STAGING' }),
        published('auth', 'CLAIM_ADDED', { claim_id: 'STAGING' }),
        audited('claims/create', { details: { name: 'staging' } }),
      ],
    },
    { name: 'create a claim again', request: ['POST', claims, { name: 'Staging' }], status: 409 },
    {
      name: 'create a claim with the name of one of the service',
      request: ['POST', claims, { name: 'list_vm' }],
      status: 409,
    },
    {
      name: 'create a role',
      request: ['POST', roles, { name: 'qa', description: 'Testers', claims: ['list_vm'] }],
      status: 201,
      reply: { id: 'QA', internal: false, claims: [{ id: 'LIST_VM' }], users: [] },
      effects: [
        shows(`${roles}/qa`, { id: 'QA', description: 'Testers' }),
        published('auth', 'ROLE_ADDED', { role_id: 'QA' }),
        audited('roles/create', { details: { name: 'qa' } }),
      ],
    },
    { name: 'create a role again', request: ['POST', roles, { name: 'QA' }], status: 409 },
    {
      name: 'create a role with a claim that there is not',
      request: ['POST', roles, { name: 'other', claims: ['NONE'] }],
      status: 404,
      effects: [gone(`${roles}/other`)],
    },
    {
      name: 'create a role without claims',
      request: ['POST', roles, { name: 'empty' }],
      status: 201,
      reply: { claims: [] },
      effects: [shows(`${roles}/EMPTY/claims`, [])],
    },
    {
      name: 'a helper may not create a role with a claim that they do not hold',
      as: 'helper',
      request: ['POST', roles, { name: 'more', claims: ['DELETE_VM'] }],
      status: 403,
      effects: [gone(`${roles}/more`)],
    },
    {
      name: 'a helper creates a role with a claim that they hold',
      as: 'helper',
      request: ['POST', roles, { name: 'less', claims: ['LIST_ROLE'] }],
      status: 201,
      effects: [
        shows(`${roles}/LESS`, { claims: [{ id: 'LIST_ROLE' }] }),
        audited('roles/create', { username: 'helper' }),
      ],
    },
    {
      name: 'a user who gets a role',
      request: ['POST', `${users}/tester/roles`, { name: 'QA' }],
      status: 201,
      effects: [
        shows(`${roles}/QA`, { users: [{ username: 'tester' }] }),
        shows(`${users}/tester`, { effective_claims: has({ name: 'LIST_VM', is_inherited: true, source_role: 'QA' }) }),
        answers(403, ['GET', roles], 'tester'),
      ],
    },
    {
      name: 'add a claim to a role, which its users have at once',
      request: ['POST', `${roles}/qa/claims`, { name: 'list_role' }],
      status: 201,
      reply: { id: 'LIST_ROLE', group: present },
      effects: [
        lists(`${roles}/QA/claims`, { id: 'LIST_ROLE' }, { id: 'LIST_VM' }),
        published('auth', 'ROLE_CLAIM_ADDED', { role_id: 'QA', claim_id: 'LIST_ROLE' }),
        audited('roles/add-claim'),
        answers(200, ['GET', roles], 'tester'),
      ],
    },
    {
      name: 'add an own claim to a role',
      request: ['POST', `${roles}/qa/claims`, { name: 'staging' }],
      status: 201,
      effects: [
        lists(`${roles}/QA/claims`, { id: 'STAGING', internal: false }),
        shows(`${users}/tester`, { effective_claims: has({ name: 'STAGING' }) }),
      ],
    },
    {
      name: 'add a claim that there is not to a role',
      request: ['POST', `${roles}/QA/claims`, { name: 'NONE' }],
      status: 404,
    },
    {
      name: 'add a claim to a role of the service',
      request: ['POST', `${roles}/SUPER_USER/claims`, { name: 'STAGING' }],
      status: 403,
    },
    {
      name: 'remove a claim from a role, which its users lose at once',
      request: ['DELETE', `${roles}/QA/claims/LIST_ROLE`],
      status: 202,
      effects: [
        omits(`${roles}/QA/claims`, { id: 'LIST_ROLE' }),
        published('auth', 'ROLE_CLAIM_REMOVED', { role_id: 'QA', claim_id: 'LIST_ROLE' }),
        audited('roles/remove-claim'),
        answers(403, ['GET', roles], 'tester'),
      ],
    },
    {
      name: 'remove a claim that a role does not have',
      request: ['DELETE', `${roles}/QA/claims/LIST_ROLE`],
      status: 404,
    },
    {
      name: 'delete a role that somebody has',
      request: ['DELETE', `${roles}/QA`],
      status: 409,
      effects: [shows(`${roles}/QA`, { id: 'QA' })],
    },
    {
      name: 'give a user an own claim',
      request: ['POST', `${users}/tester/claims`, { name: 'staging' }],
      status: 201,
      effects: [shows(`${claims}/STAGING`, { users: [{ username: 'tester' }] })],
    },
    { name: 'delete a claim that somebody has', request: ['DELETE', `${claims}/staging`], status: 409 },
    {
      name: 'filter the roles',
      request: ['GET', roles, undefined, { 'x-filter': 'name=^QA$' }],
      status: 200,
      reply: hasLength(1),
    },
    {
      name: 'filter the claims',
      request: ['GET', claims, undefined, { 'x-filter': 'name=^STAG' }],
      status: 200,
      reply: [{ id: 'STAGING' }],
    },
    {
      name: 'take the role back',
      request: ['DELETE', `${users}/tester/roles/QA`],
      status: 202,
      effects: [shows(`${roles}/QA`, { users: [] }), shows(`${users}/tester`, { roles: [] })],
    },
    {
      name: 'take the claim back',
      request: ['DELETE', `${users}/tester/claims/STAGING`],
      status: 202,
      effects: [shows(`${claims}/STAGING`, { users: [] })],
    },
    {
      name: 'delete a role',
      request: ['DELETE', `${roles}/QA`],
      status: 202,
      effects: [
        gone(`${roles}/QA`),
        omits(roles, { id: 'QA' }),
        published('auth', 'ROLE_REMOVED', { role_id: 'QA' }),
        audited('roles/delete'),
      ],
    },
    {
      name: 'delete a claim',
      request: ['DELETE', `${claims}/staging`],
      status: 202,
      effects: [
        gone(`${claims}/STAGING`),
        omits(claims, { id: 'STAGING' }),
        published('auth', 'CLAIM_REMOVED', { claim_id: 'STAGING' }),
        audited('claims/delete'),
      ],
    },
    { name: 'delete a role of the service', request: ['DELETE', `${roles}/SUPER_USER`], status: 403 },
    { name: 'delete a claim of the service', request: ['DELETE', `${claims}/LIST_VM`], status: 403 },
  ],
}
