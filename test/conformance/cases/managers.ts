import type { Area, Case } from '../case.ts'
import { hasLength, lacks, matches } from '../expectation.ts'
import { answers, audited, gone, lists, omits, published, shows } from './effects.ts'
import { importCases } from './imports.ts'
import { changeCases } from './manifests.ts'

const managers = '/v1/catalog-managers'
const other = { name: 'QA', url: '{otherUrl}', username: 'root', password: '{rootPassword}' }
const below = `${managers}/{manager}/catalog`

const records: readonly Case[] = [
  { name: 'there are no managers', request: ['GET', managers], status: 200, reply: [] },
  {
    name: 'create a manager',
    request: ['POST', managers, other],
    status: 201,
    reply: { name: 'QA', url: '{otherUrl}', active: true, global: false, password: matches(/^\*+$/) },
    saves: { manager: 'id' },
    effects: [
      shows(`${managers}/{manager}`, { name: 'QA', password: matches(/^\*+$/), username: matches(/^\*+$/) }),
      lists(managers, { id: '{manager}' }),
      published('system', 'CATALOG_MANAGER_ADDED', { manager_id: '{manager}' }),
      audited('catalog-managers/create', { details: { name: 'QA', url: '{otherUrl}' } }),
      answers(404, ['GET', `${managers}/{manager}`], 'jane'),
    ],
  },
  {
    name: 'a manager of an address that is none',
    request: ['POST', managers, { ...other, url: 'ftp://a.example' }],
    status: 400,
  },
  {
    name: 'a manager of an address with credentials',
    request: ['POST', managers, { ...other, url: 'http://a:b@a.example' }],
    status: 400,
  },
  { name: 'a manager without a name', request: ['POST', managers, { ...other, name: ' ' }], status: 400 },
  {
    name: 'create a manager of oneself',
    as: 'jane',
    request: ['POST', managers, { ...other, name: 'Mine' }],
    status: 201,
    reply: { owner_id: '{janeId}' },
    saves: { hers: 'id' },
    effects: [
      shows(managers, [{ id: '{hers}' }], 'jane'),
      shows(managers, hasLength(2)),
      audited('catalog-managers/create', { username: 'jane' }),
    ],
  },
  {
    name: 'rename a manager',
    request: ['PUT', `${managers}/{manager}`, { name: 'Testers' }],
    status: 200,
    reply: { id: '{manager}', name: 'Testers', url: '{otherUrl}' },
    effects: [
      shows(`${managers}/{manager}`, { name: 'Testers' }),
      published('system', 'CATALOG_MANAGER_UPDATED', { manager_id: '{manager}' }),
      audited('catalog-managers/update', { details: { name: 'Testers' } }),
    ],
  },
  {
    name: 'a manager for everybody',
    request: ['PUT', `${managers}/{manager}`, { global: true }],
    status: 200,
    effects: [shows(`${managers}/{manager}`, { global: true }, 'jane')],
  },
  {
    name: 'nobody changes the manager of another user',
    as: 'jane',
    request: ['PUT', `${managers}/{manager}`, { name: 'Stolen' }],
    status: 403,
    effects: [shows(`${managers}/{manager}`, { name: 'Testers' })],
  },
  {
    name: 'a manager for nobody else again',
    request: ['PUT', `${managers}/{manager}`, { global: false }],
    status: 200,
    effects: [answers(404, ['GET', `${managers}/{manager}`], 'jane')],
  },
  { name: 'the catalog of a manager is empty', request: ['GET', below], status: 200, reply: [] },
  {
    name: 'a manager that is switched off',
    request: ['PUT', `${managers}/{manager}`, { active: false }],
    status: 200,
    effects: [shows(`${managers}/{manager}`, { active: false }), answers(409, ['GET', below])],
  },
  {
    name: 'a manager that is switched on',
    request: ['PUT', `${managers}/{manager}`, { active: true }],
    status: 200,
    effects: [answers(200, ['GET', below])],
  },
]

const ends: readonly Case[] = [
  {
    name: 'a manifest of another service is not in this catalog',
    request: ['GET', '/v1/catalog'],
    status: 200,
    reply: [],
  },
  {
    name: 'filter the catalog of a manager',
    request: ['GET', below, undefined, { 'x-filter': 'version=^1$' }],
    status: 200,
    reply: [{ version: '1' }],
  },
  {
    name: 'wrong credentials for a manager are refused',
    request: ['PUT', `${managers}/{manager}`, { password: 'Wrong-Horse-1-Battery' }],
    status: 502,
    effects: [answers(200, ['GET', below])],
  },
  {
    name: 'an address that the service may not reach is refused',
    request: ['PUT', `${managers}/{manager}`, { url: 'http://10.255.255.1', username: 'a', password: 'b' }],
    status: 400,
    effects: [shows(`${managers}/{manager}`, { url: '{otherUrl}' })],
  },
  {
    name: 'delete a manager',
    request: ['DELETE', `${managers}/{manager}`],
    status: 202,
    effects: [
      gone(`${managers}/{manager}`),
      omits(managers, { id: '{manager}' }),
      published('system', 'CATALOG_MANAGER_REMOVED', { manager_id: '{manager}' }),
      audited('catalog-managers/delete'),
      answers(404, ['GET', below]),
    ],
  },
  {
    name: 'the managers of a deleted user go with the user',
    request: ['DELETE', '/v1/auth/users/jane'],
    status: 202,
    effects: [shows(managers, lacks({ id: '{hers}' })), gone(`${managers}/{hers}`)],
  },
]

export const managerArea: Area = {
  name: 'catalog managers',
  needs: ['bucket', 'other service'],
  people: {
    jane: {
      claims: ['CATALOG_MANAGER_LIST_OWN', 'CATALOG_MANAGER_CREATE_OWN', 'CATALOG_MANAGER_UPDATE_OWN'],
    },
  },
  cases: [
    ...records,
    ...changeCases({ below, operations: 'catalog-managers/catalog-', published: () => [] }),
    ...importCases(below, 'catalog-managers/catalog-').map(one => ({ ...one, name: `${one.name} (import)` })),
    ...ends,
  ],
}
