import type { Area, Case } from '../case.ts'
import { has, hasLength, matches, present } from '../expectation.ts'
import { answers, audited, comesToShow, gone, lists, published, shows } from './effects.ts'
import { importCases } from './imports.ts'

const [catalog, machines, cache, managers] = [
  '/v1/catalog',
  '/v1/machines',
  '/v1/catalog/cache',
  '/v1/catalog-managers',
]
const push = { catalog_id: 'shop', version: '1', uuid: 'web', connection: '{connection}', description: 'Web shop' }
const pull = (machine: string, version = '1') => ({ catalog_id: 'shop', version, machine_name: machine })
const below = `${managers}/{manager}/catalog`

const cacheOfHosts: Case['differs'] = {
  workerd: { reason: 'a control names the host of each cached machine and of each deletion', parts: ['body'] },
}
const jobOfHost: Case['differs'] = {
  workerd: {
    reason: 'a machine has the id of the job that pulls it, which is that of the host and not that of its control',
    parts: ['body', 'header x-request-id'],
  },
}

const preparation: readonly Case[] = [
  {
    name: 'a machine to push',
    request: [
      'POST',
      machines,
      { name: 'web', description: 'Web server', cpus: 1, memory: 32, disks: [{ size: 1 }], kernel: '{kernel}' },
    ],
    status: 201,
    saves: { web: 'id' },
    effects: [shows(`${machines}/web/status`, { status: 'stopped' })],
  },
]

const pushes: readonly Case[] = [
  {
    name: 'push a machine',
    request: ['POST', `${catalog}/push`, push],
    status: 200,
    reply: [{ catalog_id: 'shop', version: '1', type: 'embedded', description: 'Web shop', tags: has('latest') }],
    effects: [
      shows(`${catalog}/shop/1`, [
        { description: 'Web shop', virtual_machine_contents: has({ name: 'machine.json' }) },
      ]),
      published('system', 'CATALOG_MANIFEST_ADDED', { catalog_id: 'shop', version: '1' }),
      shows('/v1/jobs', has({ job_operation: 'push', state: 'completed', about: { catalog_id: 'shop' } })),
      audited('catalog/push', { details: { catalog_id: 'shop', version: '1', uuid: 'web' } }),
    ],
  },
  {
    name: 'push a machine as a job',
    request: ['POST', `${catalog}/push/async`, { ...push, version: '2', compress: true, compress_level: 0 }],
    status: 202,
    reply: { job_operation: 'push', state: 'pending' },
    headers: { location: present },
    saves: { push: 'id' },
    effects: [
      comesToShow('/v1/jobs/{push}', { state: 'completed', progress: 100 }),
      shows(`${catalog}/shop/2`, [{ is_compressed: true, tags: has('latest') }]),
      audited('catalog/push-async'),
    ],
  },
  {
    name: 'push a machine as chunks',
    request: ['POST', `${catalog}/push`, { ...push, version: '3', chunked: true }],
    status: 200,
    reply: [{ version: '3' }],
    effects: [shows(`${catalog}/shop/3`, [{ pack_path: matches(/\.chunks\.json$/) }])],
  },
  {
    name: 'push a machine with rights',
    request: ['POST', `${catalog}/push`, { ...push, version: '4', required_claims: ['LIST_VM'], tags: ['lab'] }],
    status: 200,
    effects: [
      shows(`${catalog}/shop/4`, [{ required_claims: ['LIST_VM'], tags: has('lab') }]),
      answers(404, ['GET', `${catalog}/shop/4`], 'puller'),
    ],
  },
  {
    name: 'push over a manifest that must stay',
    request: ['POST', `${catalog}/push`, { ...push, override_existing: false }],
    status: 409,
    effects: [shows(`${catalog}/shop/1`, [{ description: 'Web shop' }])],
  },
  {
    name: 'push over a manifest',
    request: ['POST', `${catalog}/push`, { ...push, description: 'Shop' }],
    status: 200,
    effects: [shows(`${catalog}/shop/1`, [{ description: 'Shop' }]), shows(`${catalog}/shop`, hasLength(4))],
  },
  {
    name: 'push a machine that there is not',
    request: ['POST', `${catalog}/push`, { ...push, uuid: 'nobody' }],
    status: 404,
  },
  { name: 'push without a machine', request: ['POST', `${catalog}/push`, { ...push, uuid: '' }], status: 400 },
  {
    name: 'a push without the right to it',
    as: 'puller',
    request: ['POST', `${catalog}/push`, { ...push, version: '9' }],
    status: 403,
    effects: [gone(`${catalog}/shop/9`)],
  },
]

const pulls: readonly Case[] = [
  {
    name: 'pull a machine',
    request: ['PUT', `${catalog}/pull`, pull('pulled')],
    status: 200,
    differs: cacheOfHosts,
    reply: { machine_name: 'pulled', manifest: { catalog_id: 'shop', version: '1' } },
    saves: { pulled: 'machine_id' },
    effects: [
      shows(`${machines}/pulled`, [{ ID: '{pulled}', State: 'stopped' }]),
      published('pdfm', 'VM_ADDED', { vm_id: '{pulled}' }),
      lists(cache, { catalog_id: 'shop', version: '1' }),
      shows(`${catalog}/shop/1`, [{ download_count: 1, last_downloaded_user: 'root' }]),
      audited('catalog/pull', { details: { catalog_id: 'shop', machine_name: 'pulled' } }),
    ],
  },
  {
    name: 'pull a machine by a POST, out of the cache',
    as: 'puller',
    request: ['POST', `${catalog}/pull`, pull('again')],
    status: 200,
    differs: cacheOfHosts,
    effects: [shows(`${machines}/again`, [{ State: 'stopped' }]), lists(cache, { version: '1', cache_used_count: 1 })],
  },
  {
    name: 'pull a machine as a job',
    request: ['PUT', `${catalog}/pull/async`, pull('later', '2')],
    status: 202,
    differs: jobOfHost,
    saves: { pull: 'id' },
    effects: [
      comesToShow('/v1/jobs/{pull}', { state: 'completed', result: { machine_name: 'later' } }),
      shows(`${machines}/later`, [{ State: 'stopped' }]),
    ],
  },
  {
    name: 'pull a machine as a job by a POST',
    request: ['POST', `${catalog}/pull/async`, pull('posted', '3')],
    status: 202,
    differs: jobOfHost,
    saves: { posted: 'id' },
    effects: [
      comesToShow('/v1/jobs/{posted}', { state: 'completed' }),
      shows(`${machines}/posted`, [{ State: 'stopped' }]),
    ],
  },
  { name: 'pull to a name that is taken', request: ['PUT', `${catalog}/pull`, pull('web')], status: 409 },
  {
    name: 'pull what there is not',
    request: ['PUT', `${catalog}/pull`, pull('none', '9')],
    status: 404,
    effects: [gone(`${machines}/none`)],
  },
  {
    name: 'pull what one may not see',
    as: 'puller',
    request: ['PUT', `${catalog}/pull`, pull('none', '4')],
    status: 404,
  },
  {
    name: 'pull a tainted machine',
    request: ['PATCH', `${catalog}/shop/2/x86_64/taint`],
    status: 200,
    effects: [answers(400, ['PUT', `${catalog}/pull`, pull('none', '2')]), gone(`${machines}/none`)],
  },
]

const caches: readonly Case[] = [
  {
    name: 'list the cache by its other path',
    request: ['GET', '/v1/cache'],
    status: 200,
    differs: cacheOfHosts,
    reply: has({ catalog_id: 'shop', version: '1' }),
  },
  {
    name: 'filter the cache',
    request: ['GET', cache, undefined, { 'x-filter': 'version=^2$' }],
    status: 200,
    differs: cacheOfHosts,
    reply: hasLength(1),
  },
  {
    name: 'delete a version from the cache',
    request: ['DELETE', `${cache}/shop/2`],
    status: 202,
    differs: cacheOfHosts,
    reply: { message: matches(/1 item/) },
    effects: [
      shows(cache, hasLength(2)),
      published('catalog_cache', 'CACHE_ITEM_REMOVED', { version: '2' }),
      audited('catalog-cache/delete'),
    ],
  },
  {
    name: 'delete what is not in the cache',
    request: ['DELETE', '/v1/cache/nobody'],
    status: 404,
    differs: cacheOfHosts,
    effects: [shows(cache, hasLength(2))],
  },
  {
    name: 'clear the cache',
    request: ['DELETE', cache],
    status: 202,
    differs: cacheOfHosts,
    effects: [shows(cache, []), audited('catalog-cache/clear')],
  },
  {
    name: 'clear an empty cache by its other path',
    request: ['DELETE', '/v1/cache'],
    status: 202,
    differs: cacheOfHosts,
    reply: { message: matches(/0 items/) },
    effects: [shows(cache, [])],
  },
]

const elsewhere: readonly Case[] = [
  {
    name: 'the catalog of another service',
    request: ['POST', managers, { name: 'QA', url: '{otherUrl}', username: 'root', password: '{rootPassword}' }],
    status: 201,
    saves: { manager: 'id' },
    effects: [shows(below, [])],
  },
  {
    name: 'push a machine to another service',
    request: ['POST', `${below}/push`, push],
    status: 200,
    effects: [shows(`${below}/shop/1`, [{ description: 'Web shop' }]), audited('catalog-managers/catalog-push')],
  },
  {
    name: 'push a machine to another service as a job',
    request: ['POST', `${below}/push/async`, { ...push, version: '5' }],
    status: 202,
    saves: { remotePush: 'id' },
    effects: [
      comesToShow('/v1/jobs/{remotePush}', { state: 'completed' }),
      shows(`${below}/shop/5`, [{ version: '5' }]),
      gone(`${catalog}/shop/5`),
    ],
  },
  {
    name: 'pull a machine from another service',
    request: ['PUT', `${below}/pull`, pull('remote', '5')],
    status: 200,
    effects: [shows(`${machines}/remote`, [{ State: 'stopped' }]), audited('catalog-managers/catalog-pull')],
  },
  {
    name: 'pull a machine from another service as a job',
    request: ['PUT', `${below}/pull/async`, pull('remote-2', '5')],
    status: 202,
    differs: jobOfHost,
    saves: { remotePull: 'id' },
    effects: [
      comesToShow('/v1/jobs/{remotePull}', { state: 'completed' }),
      shows(`${machines}/remote-2`, [{ State: 'stopped' }]),
    ],
  },
  {
    name: 'pull from another service what it does not have',
    request: ['PUT', `${below}/pull`, pull('none', '2')],
    status: 404,
  },
  {
    name: 'pull from a connection that is named',
    request: ['PUT', `${catalog}/pull`, { ...pull('named', '5'), connection: 'host=root:{rootPassword}@{otherUrl}' }],
    status: 200,
    effects: [shows(`${machines}/named`, [{ State: 'stopped' }])],
  },
  {
    name: 'remove garbage of chunks that a manifest uses',
    request: ['POST', `${catalog}/garbage`, { connection: '{connection}', dry_run: false, grace_hours: 0 }],
    status: 200,
    reply: { removed: 0 },
    effects: [
      answers(200, ['PUT', `${catalog}/pull`, pull('kept', '3')]),
      shows(`${machines}/kept`, [{ State: 'stopped' }]),
    ],
  },
]

export const transferArea: Area = {
  name: 'transfers',
  withHost: true,
  needs: ['bucket', 'guests', 'other service'],
  people: { puller: { claims: ['LIST_CATALOG_MANIFEST', 'PULL_CATALOG_MANIFEST', 'LIST_CACHE'] } },
  cases: [...preparation, ...pushes, ...pulls, ...caches, ...importCases(catalog, 'catalog/'), ...elsewhere],
}
