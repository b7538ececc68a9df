import type { Case, Effect } from '../case.ts'
import { has, lacks, matches, present } from '../expectation.ts'
import { answers, audited, shows } from './effects.ts'

/** A catalog in which manifests are changed: that of the service, or that of a manager. */
interface Place {
  /** The path of the catalog. */
  readonly below: string
  /** What comes before the names of its operations. */
  readonly operations: string
  /** Gives the effect that the event log of the service has an event; none for a catalog elsewhere. */
  readonly published: (message: string, body: object) => readonly Effect[]
}

/** The members of a registration of a pack that is in the bucket. */
export const registration = (version: string) => ({
  catalog_id: 'web',
  version,
  architecture: 'x86_64',
  path: '/web',
  pack_path: `web-x86_64-${version}.pdpack`,
  metadata_path: `web-x86_64-${version}.meta`,
  pack_size: 18,
  provider: {
    type: 'minio',
    meta: { bucket: '{bucket}', endpoint: '{s3}', access_key: '{accessKey}', secret_key: '{secretKey}' },
  },
})

/** Registers `web 1` and changes it in every way; it is revoked at the end. */
export const changeCases = ({ below, operations, published }: Place): readonly Case[] => {
  const at = `${below}/web/1/x86_64`
  const names = { catalog_id: 'web', version: '1', architecture: 'x86_64' }
  const change = (
    name: string,
    request: Case['request'],
    shown: object,
    {
      audit,
      event = 'CATALOG_MANIFEST_UPDATED',
      effects = [],
    }: { audit: string; event?: string; effects?: readonly Effect[] },
  ): Case => ({
    name,
    request,
    status: 200,
    reply: [shown],
    effects: [shows(at, [shown]), ...published(event, names), audited(operations + audit), ...effects],
  })
  return [
    {
      name: 'register a manifest whose pack is in the bucket',
      request: ['POST', below, { ...registration('1'), description: 'Web server', tags: ['first'] }],
      status: 200,
      reply: [{ ...names, description: 'Web server', tags: has('first', 'latest'), provider: { type: 'minio' } }],
      effects: [
        shows(at, [{ ...names, description: 'Web server', pack_size: 18 }]),
        ...published('CATALOG_MANIFEST_ADDED', names),
        audited(`${operations}register`),
      ],
    },
    {
      name: 'no reply shows the secrets of the provider',
      request: ['GET', at],
      status: 200,
      reply: [{ provider: { meta: { secret_key: matches(/\*\*/), access_key: matches(/\*\*/) } } }],
    },
    change(
      'add claims',
      ['PATCH', `${at}/claims`, { required_claims: ['list_vm'] }],
      { required_claims: ['LIST_VM'] },
      { audit: 'add-claims' },
    ),
    change(
      'add the same claims again',
      ['PATCH', `${at}/claims`, { required_claims: ['LIST_VM'] }],
      { required_claims: ['LIST_VM'] },
      { audit: 'add-claims' },
    ),
    change(
      'remove claims',
      ['DELETE', `${at}/claims`, { required_claims: ['list_vm'] }],
      { required_claims: [] },
      { audit: 'remove-claims' },
    ),
    change(
      'add roles',
      ['PATCH', `${at}/roles`, { required_roles: ['user'] }],
      { required_roles: ['USER'] },
      { audit: 'add-roles' },
    ),
    change(
      'remove roles',
      ['DELETE', `${at}/roles`, { required_roles: ['USER'] }],
      { required_roles: [] },
      { audit: 'remove-roles' },
    ),
    change(
      'add tags',
      ['PATCH', `${at}/tags`, { tags: ['nightly', 'stable'] }],
      { tags: has('nightly', 'stable') },
      { audit: 'add-tags' },
    ),
    change(
      'remove a tag',
      ['DELETE', `${at}/tags`, { tags: ['nightly'] }],
      { tags: lacks('nightly') },
      { audit: 'remove-tags' },
    ),
    change(
      'change claims, roles and tags at once',
      ['PATCH', `${at}/claims`, { required_claims: ['list'], required_roles: ['USER'], tags: ['all'] }],
      { required_claims: ['LIST'], required_roles: ['USER'], tags: has('all', 'stable') },
      { audit: 'add-claims' },
    ),
    change(
      'replace the description and the lists',
      [
        'PUT',
        `${at}/metadata`,
        { description: 'Web server with logs', required_claims: [], required_roles: [], tags: ['new'] },
      ],
      { description: 'Web server with logs', required_claims: [], required_roles: [], tags: has('new') },
      { audit: 'describe' },
    ),
    { name: 'add no tags', request: ['PATCH', `${at}/tags`, { tags: [] }], status: 400 },
    { name: 'replace nothing', request: ['PUT', `${at}/metadata`, {}], status: 400 },
    change(
      'change the connection to a copy of the pack',
      ['PATCH', `${at}/connection`, { connection: '{copyConnection}' }],
      { provider: { type: 'minio', meta: { bucket: '{copy}' } } },
      { audit: 'connect' },
    ),
    {
      name: 'change the connection to where the pack is not',
      request: ['PATCH', `${at}/connection`, { connection: '{emptyConnection}' }],
      status: 400,
      effects: [shows(at, [{ provider: { meta: { bucket: '{copy}' } } }])],
    },
    {
      name: 'a connection that names no provider',
      request: ['PATCH', `${at}/connection`, { connection: 'host=a.example' }],
      status: 400,
    },
    change(
      'taint a manifest',
      ['PATCH', `${at}/taint`],
      { tainted: true, tainted_by: 'root', tainted_at: present },
      {
        audit: 'taint',
        event: 'CATALOG_MANIFEST_TAINTED',
        effects: [answers(400, ['GET', `${at}/download`])],
      },
    ),
    { name: 'taint a tainted manifest', request: ['PATCH', `${at}/taint`], status: 400 },
    change(
      'untaint a manifest',
      ['PATCH', `${at}/untaint`],
      { tainted: false, untainted_by: 'root', tainted_at: undefined },
      {
        audit: 'untaint',
        event: 'CATALOG_MANIFEST_UNTAINTED',
      },
    ),
    { name: 'untaint a manifest that is not tainted', request: ['PATCH', `${at}/untaint`], status: 400 },
    {
      name: 'a download is counted',
      request: ['GET', `${at}/download`],
      status: 200,
      reply: [names],
      effects: [shows(at, [{ download_count: 1, last_downloaded_user: 'root', last_downloaded_at: present }])],
    },
    {
      name: 'the bytes of a pack',
      request: ['GET', `${at}/download?content=pack`],
      status: 200,
      reply: matches(/0123456789abcdef$/),
      headers: { 'content-type': 'application/octet-stream', 'accept-ranges': 'bytes', etag: matches(/^"/) },
      saves: { packTag: 'header etag' },
      effects: [shows(at, [{ download_count: 1 }])],
    },
    { name: 'the size of a pack', request: ['HEAD', `${at}/download?content=pack`], status: 200, reply: '' },
    {
      name: 'a range of a pack',
      request: ['GET', `${at}/download?content=pack`, undefined, { range: 'bytes=2-5' }],
      status: 206,
      reply: '0123',
      headers: { 'content-range': 'bytes 2-5/18' },
    },
    {
      name: 'the end of a pack',
      request: ['GET', `${at}/download?content=pack`, undefined, { range: 'bytes=-3' }],
      status: 206,
      reply: 'def',
    },
    {
      name: 'a range beyond the end of a pack',
      request: ['GET', `${at}/download?content=pack`, undefined, { range: 'bytes=18-' }],
      status: 416,
      headers: { 'content-range': 'bytes */18' },
    },
    {
      name: 'a range of a pack that has not changed',
      request: ['GET', `${at}/download?content=pack`, undefined, { range: 'bytes=2-2', 'if-range': '{packTag}' }],
      status: 206,
      reply: '0',
    },
    {
      name: 'a range of a pack that has changed',
      request: ['GET', `${at}/download?content=pack`, undefined, { range: 'bytes=2-2', 'if-range': '"other"' }],
      status: 200,
      reply: matches(/abcdef$/),
    },
    {
      name: 'the sidecar of a pack',
      request: ['GET', `${at}/download?content=pieces`],
      status: 200,
      reply: { format: 1, size: 18 },
    },
    {
      name: 'the description on the provider',
      request: ['GET', `${at}/download?content=metadata`],
      status: 200,
      reply: { catalog_id: 'web' },
    },
    { name: 'content that there is not', request: ['GET', `${at}/download?content=other`], status: 400 },
    { name: 'a manifest that there is not', request: ['GET', `${below}/web/9/x86_64`], status: 404 },
    change(
      'revoke a manifest',
      ['PATCH', `${at}/revoke`],
      { revoked: true, revoked_by: 'root', revoked_at: present },
      {
        audit: 'revoke',
        event: 'CATALOG_MANIFEST_REVOKED',
        effects: [answers(403, ['GET', `${at}/download`])],
      },
    ),
    { name: 'revoke a revoked manifest', request: ['PATCH', `${at}/revoke`], status: 403 },
    { name: 'taint a revoked manifest', request: ['PATCH', `${at}/taint`], status: 403 },
  ]
}
