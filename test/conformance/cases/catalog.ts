import type { Area, Case } from '../case.ts'
import { has, hasLength, lacks, matches, present } from '../expectation.ts'
import { answers, audited, gone, published, shows } from './effects.ts'
import { changeCases, registration } from './manifests.ts'

const catalog = '/v1/catalog'
const tool = { catalog_id: 'tool', version: '1', architecture: 'x86_64' }
const at = `${catalog}/tool/1/x86_64`

const inventory: readonly Case[] = [
  {
    name: 'a new catalog is empty',
    request: ['GET', catalog],
    status: 200,
    reply: [],
    saves: { emptyTag: 'header etag' },
  },
  {
    name: 'register a manifest without a provider',
    as: 'editor',
    request: ['POST', catalog, { ...tool, type: 'pvm', description: 'Tool', tags: ['ci'] }],
    status: 200,
    reply: [{ ...tool, name: 'tool-x86_64-1', tags: ['ci', 'latest'], provider: { type: '' }, download_count: 0 }],
    saves: { tool: '0.id', toolTag: 'header etag' },
    effects: [
      shows(at, [{ id: '{tool}', description: 'Tool' }]),
      shows(catalog, [{ id: '{tool}' }]),
      published('system', 'CATALOG_MANIFEST_ADDED', { id: '{tool}', ...tool }),
      audited('catalog/register', { username: 'editor', details: tool }),
    ],
  },
  {
    name: 'the list has changed',
    request: ['GET', catalog, undefined, { 'if-none-match': '{emptyTag}' }],
    status: 200,
    saves: { listTag: 'header etag' },
  },
  {
    name: 'the list has not changed',
    request: ['GET', catalog, undefined, { 'if-none-match': '{listTag}' }],
    status: 304,
  },
  { name: 'show a manifest by its id', request: ['GET', `${catalog}/{tool}`], status: 200, reply: [{ id: '{tool}' }] },
  {
    name: 'show a manifest by its name',
    request: ['GET', `${catalog}/tool-x86_64-1`],
    status: 200,
    reply: [{ id: '{tool}' }],
  },
  {
    name: 'show a manifest by a tag, in any case, by another name of its architecture',
    request: ['GET', `${catalog}/TOOL/latest/amd64`],
    status: 200,
    reply: [{ id: '{tool}' }],
  },
  {
    name: 'show a manifest that has not changed',
    request: ['GET', at, undefined, { 'if-none-match': '{toolTag}' }],
    status: 304,
  },
  {
    name: 'register a manifest again keeps what is left out',
    request: ['POST', catalog, { ...tool, size: 7 }],
    status: 200,
    reply: [{ id: '{tool}', size: 7, description: 'Tool', type: 'pvm' }],
    effects: [
      shows(at, [{ id: '{tool}', size: 7 }]),
      published('system', 'CATALOG_MANIFEST_UPDATED', { id: '{tool}' }),
    ],
  },
  {
    name: 'a new version becomes the latest',
    request: ['POST', catalog, { ...tool, version: '2' }],
    status: 200,
    reply: [{ tags: ['latest'] }],
    effects: [shows(at, [{ tags: lacks('latest') }]), shows(`${catalog}/tool/latest`, [{ version: '2' }])],
  },
  {
    name: 'another architecture of a version',
    request: ['POST', catalog, { ...tool, version: '2', architecture: 'arm64' }],
    status: 200,
    effects: [shows(`${catalog}/tool/2`, hasLength(2)), shows(`${catalog}/tool`, hasLength(3))],
  },
  {
    name: 'the first page of the catalog',
    request: ['GET', `${catalog}?limit=2`],
    status: 200,
    reply: hasLength(2),
    headers: { link: matches(/rel="next"/) },
  },
  {
    name: 'filter the catalog',
    request: ['GET', catalog, undefined, { 'x-filter': 'version=^1$' }],
    status: 200,
    reply: [{ id: '{tool}' }],
  },
  {
    name: 'filter the catalog by a secret',
    request: ['GET', catalog, undefined, { 'x-filter': 'provider.meta.secret_key=a' }],
    status: 200,
    reply: [],
  },
  {
    name: 'a manifest that requires a claim',
    request: ['POST', catalog, { ...tool, catalog_id: 'secret', required_claims: ['LIST_VM'] }],
    status: 200,
    effects: [
      shows(`${catalog}/secret`, [{ required_claims: ['LIST_VM'] }], 'machinist'),
      answers(404, ['GET', `${catalog}/secret`], 'editor'),
      shows(catalog, lacks({ catalog_id: 'secret' }), 'editor'),
    ],
  },
  {
    name: 'a hidden manifest cannot be registered again',
    as: 'editor',
    request: ['POST', catalog, { ...tool, catalog_id: 'secret' }],
    status: 409,
  },
  {
    name: 'a hidden manifest cannot be changed',
    as: 'editor',
    request: ['PATCH', `${catalog}/secret/1/x86_64/tags`, { tags: ['x'] }],
    status: 404,
  },
  {
    name: 'a change needs the present version',
    request: ['PATCH', `${at}/tags`, { tags: ['x'] }, { 'if-match': '"other"' }],
    status: 412,
  },
  { name: 'show a manifest to change it', request: ['GET', at], status: 200, saves: { present: 'header etag' } },
  {
    name: 'a change of the present version',
    request: ['PATCH', `${at}/tags`, { tags: ['matched'] }, { 'if-match': '{present}' }],
    status: 200,
    headers: { etag: present },
    effects: [
      shows(at, [{ tags: has('matched') }]),
      answers(412, ['PATCH', `${at}/tags`, { tags: ['late'] }, { 'if-match': '{present}' }]),
    ],
  },
  {
    name: 'a change of any version',
    request: ['PATCH', `${at}/tags`, { tags: ['any'] }, { 'if-match': '*' }],
    status: 200,
    effects: [shows(at, [{ tags: has('any', 'matched') }])],
  },
  {
    name: 'the same Idempotency-Key changes a manifest once',
    request: ['PATCH', `${at}/tags`, { tags: ['keyed'] }, { 'idempotency-key': 't-1' }],
    status: 200,
    effects: [
      answers(200, ['DELETE', `${at}/tags`, { tags: ['keyed'] }]),
      answers(200, ['PATCH', `${at}/tags`, { tags: ['keyed'] }, { 'idempotency-key': 't-1' }]),
      shows(at, [{ tags: lacks('keyed') }]),
    ],
  },
  { name: 'the bytes of a manifest without a provider', request: ['GET', `${at}/download?content=pack`], status: 409 },
  {
    name: 'a catalog id that is a word of the service',
    request: ['POST', catalog, { ...tool, catalog_id: 'push' }],
    status: 400,
  },
  {
    name: 'an architecture that there is not',
    request: ['POST', catalog, { ...tool, architecture: 'mips' }],
    status: 400,
  },
  {
    name: 'a provider that there is not',
    request: ['POST', catalog, { ...tool, provider: { type: 'ftp', meta: {} } }],
    status: 400,
  },
  {
    name: 'a path that leads out of the bucket',
    request: ['POST', catalog, { ...registration('1'), path: '/../x' }],
    status: 400,
  },
  {
    name: 'delete a version that was changed',
    request: ['DELETE', at, undefined, { 'if-match': '"other"' }],
    status: 412,
    effects: [shows(at, [{ id: '{tool}' }])],
  },
  {
    name: 'delete a version',
    request: ['DELETE', `${catalog}/tool/2`],
    status: 202,
    effects: [
      shows(`${catalog}/tool`, [{ version: '1', tags: has('latest') }]),
      published('system', 'CATALOG_MANIFEST_REMOVED', { version: '2' }),
      audited('catalog/delete'),
    ],
  },
  {
    name: 'delete a catalog id',
    request: ['DELETE', `${catalog}/tool`],
    status: 202,
    effects: [gone(`${catalog}/tool`), gone(at)],
  },
]

const garbage = { connection: '{connection}' }

const collection: readonly Case[] = [
  {
    name: 'count the garbage of a provider',
    request: ['POST', `${catalog}/garbage`, garbage],
    status: 200,
    reply: { kept: 0, young: 0, removed: 0, bytes: 0 },
    effects: [
      shows('/v1/jobs', has({ job_operation: 'garbage', state: 'completed', about: { dry_run: 'true' } })),
      audited('catalog/garbage', { details: { dry_run: true, grace_hours: 24 } }),
    ],
  },
  {
    name: 'collect the garbage of a provider',
    request: ['POST', `${catalog}/garbage`, { ...garbage, dry_run: false }],
    status: 200,
    effects: [audited('catalog/garbage', { details: { dry_run: false } })],
  },
  {
    name: 'the garbage of a connection that is none',
    request: ['POST', `${catalog}/garbage`, { connection: 'nonsense' }],
    status: 400,
  },
]

export const catalogArea: Area = {
  name: 'the catalog',
  needs: ['bucket'],
  people: {
    editor: { claims: ['LIST_CATALOG_MANIFEST', 'CREATE_CATALOG_MANIFEST', 'UPDATE_CATALOG_MANIFEST'] },
    machinist: { claims: ['LIST_CATALOG_MANIFEST', 'LIST_VM'] },
  },
  cases: [
    ...inventory,
    ...changeCases({
      below: catalog,
      operations: 'catalog/',
      published: (message, body) => [published('system', message, body)],
    }),
    ...collection,
  ],
}
