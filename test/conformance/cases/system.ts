import type { Area } from '../case.ts'
import { has, hasLength, matches, present } from '../expectation.ts'
import { audited, lists, shows } from './effects.ts'

const configs = '/v1/user/configs'

const licensesOfHosts = {
  workerd: { reason: 'a control lists the licenses of all its hosts', parts: ['body'] },
} as const
const auditOfHost = { workerd: { reason: 'the audit of a control begins with its host', parts: ['body'] } } as const

export const systemArea: Area = {
  name: 'the service itself',
  withHost: true,
  people: { jane: {} },
  cases: [
    { name: 'the probe', as: 'anonymous', request: ['GET', '/health/probe'], status: 200, reply: { status: 'OK' } },
    {
      name: 'the health of each part',
      as: 'jane',
      request: ['GET', '/v1/health/system'],
      status: 200,
      differs: { workerd: { reason: 'the edge has other parts: no hypervisor, and hosts', parts: ['body'] } },
    },
    {
      name: 'the description of the endpoints',
      as: 'anonymous',
      request: ['GET', '/openapi.json'],
      status: 200,
      reply: { openapi: matches(/^3\.1/), paths: { '/api/health/probe': present, '/api/v1/machines': present } },
      differs: {
        workerd: { reason: 'the edge has endpoints of hosts, and callers choose the host of others', parts: ['body'] },
      },
      headers: { etag: matches(/^"/), 'cache-control': 'private, no-cache' },
      saves: { description: 'header etag' },
    },
    {
      name: 'the description of the endpoints, which has not changed',
      as: 'anonymous',
      request: ['GET', '/openapi.json', undefined, { 'if-none-match': '{description}' }],
      status: 304,
      headers: { etag: '{description}' },
    },
    {
      name: 'the description of the endpoints, by a list of weak tags',
      as: 'anonymous',
      request: ['GET', '/openapi.json', undefined, { 'if-none-match': '"other", W/{description}' }],
      status: 304,
    },
    {
      name: 'the metrics',
      as: 'jane',
      request: ['GET', '/metrics'],
      status: 200,
      headers: { 'content-type': matches(/^text\/plain/) },
      differs: { workerd: { reason: 'the edge has no metrics of a process', parts: ['body', 'header content-type'] } },
    },
    {
      name: 'the license',
      as: 'jane',
      request: ['GET', '/v1/hypervisor_desktop/key'],
      status: 200,
      differs: licensesOfHosts,
    },
    {
      name: 'the license under its other name',
      as: 'jane',
      request: ['GET', '/v1/parallels_desktop/key'],
      status: 200,
      differs: licensesOfHosts,
    },
    {
      name: 'a path that there is not',
      as: 'anonymous',
      request: ['GET', '/v1/nothing'],
      status: 404,
      reply: { code: 404 },
    },
    { name: 'a path outside of the prefix', as: 'anonymous', request: ['GET', '//nothing'], status: 404 },
    { name: 'the root', as: 'anonymous', request: ['GET', '//'], status: 404 },
    {
      name: 'a query that nobody reads',
      as: 'anonymous',
      request: ['GET', '/health/probe?a=b&a=c&=&%zz'],
      status: 200,
    },
    {
      name: 'an escape that is none in a path',
      request: ['GET', `${configs}/%zz`],
      status: 404,
    },
    { name: 'an escaped zero byte in a path', request: ['GET', `${configs}/%00`], status: 404 },
    {
      name: 'a page of an allowed origin reads a reply',
      as: 'anonymous',
      request: ['GET', '/health/probe', undefined, { origin: 'https://ui.example.org' }],
      status: 200,
      headers: {
        'access-control-allow-origin': 'https://ui.example.org',
        'access-control-expose-headers': matches(/ETag/),
        vary: matches(/Origin/),
      },
    },
    {
      name: 'a page of another origin does not',
      as: 'anonymous',
      request: ['GET', '/health/probe', undefined, { origin: 'https://other.example.org' }],
      status: 200,
      headers: { 'access-control-allow-origin': undefined },
    },
    {
      name: 'the headers that make no reply a page',
      as: 'anonymous',
      request: ['GET', '/health/probe'],
      status: 200,
      headers: {
        'x-content-type-options': 'nosniff',
        'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
        'referrer-policy': 'no-referrer',
        'cache-control': 'no-store',
        'content-type': 'application/json',
        'x-request-id': matches(/^[0-9a-f-]{36}$/),
      },
    },
    {
      name: 'two credentials, of which the token is none',
      as: 'jane',
      request: ['GET', configs, undefined, { authorization: 'Bearer a.b.c' }],
      status: 401,
    },
    {
      name: 'a credential of another scheme',
      as: 'anonymous',
      request: ['GET', configs, undefined, { authorization: 'Basic cm9vdDpyb290' }],
      status: 401,
    },
    {
      name: 'an API key that is none',
      as: 'anonymous',
      request: ['GET', configs, undefined, { 'x-api-key': 'eDp5' }],
      status: 401,
    },
    {
      name: 'JSON that is labelled as a form',
      request: [
        'POST',
        configs,
        '{"slug":"labelled","value":"a"}',
        { 'content-type': 'application/x-www-form-urlencoded' },
      ],
      status: 201,
      effects: [shows(`${configs}/labelled`, { value: 'a' })],
    },
    {
      name: 'JSON without a type',
      request: ['POST', configs, '{"slug":"untyped","value":"a"}'],
      status: 201,
      effects: [lists(configs, { slug: 'untyped' })],
    },
    {
      name: 'a form',
      request: ['POST', configs, 'slug=formed&value=a+b%21', { 'content-type': 'application/x-www-form-urlencoded' }],
      status: 201,
      effects: [shows(`${configs}/formed`, { value: 'a b!' })],
    },
    {
      name: 'a form of parts',
      request: [
        'POST',
        configs,
        '--b\r\nContent-Disposition: form-data; name="slug"\r\n\r\nparted\r\n--b--\r\n',
        { 'content-type': 'multipart/form-data; boundary=b' },
      ],
      status: 201,
      effects: [lists(configs, { slug: 'parted' })],
    },
    {
      name: 'a member that is null counts as left out',
      request: ['POST', configs, '{"slug":"nulled","name":null,"value":"a"}'],
      status: 201,
      effects: [shows(`${configs}/nulled`, { value: 'a' })],
    },
    {
      name: 'a body in UTF-8',
      request: ['POST', configs, new TextEncoder().encode('{"slug":"utf","value":"ä€𝄞"}')],
      status: 201,
      effects: [shows(`${configs}/utf`, { value: 'ä€𝄞' })],
    },
    {
      name: 'a body that is not UTF-8',
      request: ['POST', configs, new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])],
      status: 400,
    },
    {
      name: 'a body that is nested too deeply',
      request: ['POST', configs, `{"value":${'['.repeat(300)}${']'.repeat(300)}}`],
      status: 400,
    },
    {
      name: 'the names of prototypes as members',
      request: ['POST', configs, '{"slug":"proto","value":"a","__proto__":{"x":1},"constructor":2}'],
      status: 201,
      effects: [shows(`${configs}/proto`, { value: 'a' })],
    },
    { name: 'the audit is for super users', as: 'jane', request: ['GET', '/v1/audit'], status: 403 },
    {
      name: 'the audit of a refusal',
      request: ['GET', '/v1/audit?operation=audit/list&outcome=refused'],
      status: 200,
      reply: { entries: [{ username: 'jane', status: 403, outcome: 'refused', address: present, method: 'GET' }] },
    },
    {
      name: 'the audit of wrong input',
      request: ['GET', '/v1/audit?operation=user-configs/create&outcome=refused'],
      status: 200,
      reply: { entries: has({ status: 400 }) },
    },
    {
      name: 'a change to be audited',
      request: ['POST', '/v1/auth/claims', { name: 'one' }],
      status: 201,
      effects: [
        audited('claims/create', {
          username: 'root',
          method: 'POST',
          status: 201,
          request_id: present,
          hash: matches(/^[0-9a-f]{64}$/),
        }),
      ],
    },
    {
      name: 'the first entries of the audit, oldest first',
      request: ['GET', '/v1/audit?after=0&limit=2'],
      status: 200,
      reply: { entries: [{ seq: 1 }, { seq: 2 }], next: 2 },
      differs: auditOfHost,
    },
    {
      name: 'the entries before one',
      request: ['GET', '/v1/audit?before=3'],
      status: 200,
      reply: { entries: hasLength(2) },
      differs: auditOfHost,
    },
    {
      name: 'the entries of all operations of an area',
      request: ['GET', '/v1/audit?operation=claims/*'],
      status: 200,
      reply: { entries: [{ operation: 'claims/create' }] },
    },
    {
      name: 'the entries of a user',
      request: ['GET', '/v1/audit?user=jane&limit=1'],
      status: 200,
      reply: { entries: [{ username: 'jane' }] },
    },
    {
      name: 'the entries of the future',
      request: ['GET', '/v1/audit?from=2999-01-01T00:00:00Z'],
      status: 200,
      reply: { entries: [] },
    },
    { name: 'entries before and after', request: ['GET', '/v1/audit?before=3&after=1'], status: 400 },
  ],
}
