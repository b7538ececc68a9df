import type { Area, Case } from '../case.ts'
import { has, hasLength, lacks, matches, present } from '../expectation.ts'
import { answers, audited, comesToShow, gone, published, shows } from './effects.ts'

const pools = '/v1/pools'
const pool = `${pools}/ci`
const definition = { from: { machine: 'base' }, min: 1, max: 2 }

/** The names of machines are made up, and they come to be ready while others ask. */
const members = { varies: 'machines are made in the background, and have names of their own' }
const madeUp: Case['differs'] = {
  executable: { reason: 'the names of machines are made up', parts: ['body'] },
  workerd: { reason: 'the names of machines are made up', parts: ['body'] },
}
const listed: Case['differs'] = {
  workerd: { reason: 'a control names the host of each pool', parts: ['body'] },
}

const definitions: readonly Case[] = [
  { name: 'no pools', request: ['GET', pools], status: 200, reply: [] },
  {
    name: 'create the machine that a pool copies',
    request: ['POST', '/v1/machines', { name: 'base', memory: 32, disks: [{ size: 1 }], kernel: '{kernel}' }],
    status: 201,
  },
  {
    name: 'define a pool',
    request: ['POST', pools, { name: 'ci', ...definition, template: { labels: { team: 'build' } } }],
    status: 201,
    reply: { name: 'ci', ...definition, idle_ttl: 86_400, waiting: 0, members: [] },
    saves: { pool: 'id' },
    effects: [
      published('pdfm', 'POOL_ADDED', { pool_id: '{pool}', name: 'ci' }),
      audited('pools/create', { details: { name: 'ci', ...definition } }),
      { ...comesToShow(pool, { id: '{pool}', members: [{ state: 'ready' }] }), ...members },
    ],
  },
  {
    name: 'define a pool with a name that is taken',
    request: ['POST', pools, { name: 'CI', ...definition }],
    status: 409,
  },
  {
    name: 'define a pool with a member that there is not',
    request: ['POST', pools, { name: 'other', ...definition, colour: 'red' }],
    status: 400,
    reply: { message: matches(/colour: not known here/) },
  },
  {
    name: 'define a pool without the right',
    as: 'operator',
    request: ['POST', pools, { name: 'other', ...definition }],
    status: 403,
    effects: [{ ...shows(pools, lacks({ name: 'other' })), ...members }],
  },
  {
    name: 'list the pools',
    request: ['GET', pools],
    status: 200,
    reply: has({ id: '{pool}' }),
    differs: { ...madeUp, ...listed },
  },
  {
    name: 'show a pool in any case',
    request: ['GET', `${pools}/CI`],
    status: 200,
    reply: { name: 'ci' },
    differs: madeUp,
  },
]

const claims: readonly Case[] = [
  {
    name: 'claim a machine',
    as: 'operator',
    request: ['POST', `${pool}/claim`, { labels: { job: '7' }, ttl: 3600 }],
    status: 201,
    reply: { pool: 'ci', owner: 'operator', current_state: 'running', labels: { team: 'build', job: '7' } },
    saves: { claimed: 'id' },
    differs: madeUp,
    effects: [
      {
        ...shows('/v1/machines/{claimed}', [{ State: 'running', owner: '{operatorId}', expires_at: present }]),
        ...members,
      },
      { ...shows(pool, { members: has({ id: '{claimed}', state: 'claimed', claimed_by: 'operator' }) }), ...members },
      { ...published('pdfm', 'POOL_CLAIMED', { vm_id: '{claimed}', claimed_by: 'operator' }), ...members },
      audited('pools/claim', { created: '{claimed}', target: { name: 'ci' } }),
    ],
  },
  { name: 'claim without the right', as: 'viewer', request: ['POST', `${pool}/claim`, {}], status: 403 },
  {
    name: 'claim with a time that is too long',
    as: 'operator',
    request: ['POST', `${pool}/claim?timeout=301`, {}],
    status: 400,
  },
  {
    name: 'a pool that makes no machines any more',
    request: ['PUT', pool, { ...definition, min: 0, max: 1 }],
    status: 200,
    reply: { min: 0, max: 1, name: 'ci' },
    differs: madeUp,
    effects: [
      published('pdfm', 'POOL_UPDATED', { pool_id: '{pool}' }),
      audited('pools/update', { details: { ...definition, min: 0, max: 1 } }),
      { ...comesToShow(pool, { template: {}, members: [{ id: '{claimed}', state: 'claimed' }] }), ...members },
    ],
  },
  {
    name: 'claim a machine of a pool that has none ready',
    as: 'operator',
    request: ['POST', `${pool}/claim?timeout=0.1`, {}],
    status: 503,
    headers: { 'retry-after': '5' },
    differs: { workerd: { reason: 'a control names the host that has refused', parts: ['body'] } },
    reply: { message: matches(/The pool ci has no machine ready in time: 1 of at most 1 machines are claimed/) },
  },
  { name: 'update a pool that there is not', request: ['PUT', `${pools}/none`, definition], status: 404 },
  { name: 'claim from a pool that there is not', request: ['POST', `${pools}/none/claim`, {}], status: 404 },
  { name: 'delete a pool that there is not', request: ['DELETE', `${pools}/none`], status: 404 },
  {
    name: 'delete a pool',
    request: ['DELETE', pool],
    status: 202,
    effects: [
      gone(pool),
      shows(pools, hasLength(0)),
      published('pdfm', 'POOL_REMOVED', { pool_id: '{pool}' }),
      audited('pools/delete'),
      answers(202, ['DELETE', '/v1/machines/{claimed}?force=true']),
    ],
  },
]

export const poolArea: Area = {
  name: 'pools',
  people: { operator: { claims: ['LIST_VM', 'UPDATE_VM_STATES'] }, viewer: { claims: ['LIST_VM'] } },
  needs: ['guests'],
  withHost: true,
  cases: [...definitions, ...claims],
}
