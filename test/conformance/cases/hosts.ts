import type { Area } from '../case.ts'
import { matches, present } from '../expectation.ts'
import { answers, audited, gone, omits, shows } from './effects.ts'

const hosts = '/v1/hosts'
const none = 'only a control has hosts'
const report = {
  version: '1',
  driver: 'embedded',
  architecture: 'x86_64',
  capacity: { cpus: 2, memory: 4096, free_memory: 1024 },
}

export const hostArea: Area = {
  name: 'hosts',
  leftOut: { node: none, executable: none },
  people: { viewer: { claims: ['LIST_HOST'] } },
  cases: [
    { name: 'there are no hosts', request: ['GET', hosts], status: 200, reply: [] },
    { name: 'nobody can run a machine', request: ['GET', '/v1/machines/web'], status: 404 },
    {
      name: 'register a host',
      request: ['POST', hosts, { name: 'host-7', url: 'https://host-7.example.org', labels: { zone: 'a' } }],
      status: 201,
      reply: { name: 'host-7', key: present },
      saves: { host: 'id', hostKey: 'key' },
      effects: [
        shows(`${hosts}/{host}`, { name: 'host-7', state: 'new', labels: { zone: 'a' }, key: undefined }),
        shows(hosts, [{ id: '{host}' }], 'viewer'),
        audited('hosts/create', { details: { name: 'host-7' } }),
      ],
    },
    {
      name: 'register a host with a name that is taken',
      request: ['POST', hosts, { name: 'HOST-7', url: 'https://h.example.org' }],
      status: 409,
    },
    { name: 'register a host without an address', request: ['POST', hosts, { name: 'host-8' }], status: 400 },
    {
      name: 'a viewer registers no host',
      as: 'viewer',
      request: ['POST', hosts, { name: 'host-8', url: 'https://h.example.org' }],
      status: 403,
      effects: [gone(`${hosts}/host-8`)],
    },
    {
      name: 'a host that was not heard gets no machine',
      request: ['POST', '/v1/machines', { name: 'web', cpus: 1, memory: 32 }],
      status: 503,
      reply: { message: matches(/host-7/) },
    },
    {
      name: 'a heartbeat with a wrong key',
      as: 'anonymous',
      request: ['PUT', `${hosts}/{host}/heartbeat`, report, { 'x-host-key': 'wrong' }],
      status: 401,
      effects: [shows(`${hosts}/{host}`, { state: 'new' })],
    },
    {
      name: 'a heartbeat',
      as: 'anonymous',
      request: ['PUT', `${hosts}/{host}/heartbeat`, report, { 'x-host-key': '{hostKey}' }],
      status: 200,
      effects: [shows(`${hosts}/{host}`, { state: 'reachable', heard_at: present, architecture: 'x86_64' })],
    },
    {
      name: 'a host reads no pack that it does not pull',
      as: 'anonymous',
      request: ['GET', `${hosts}/{host}/packs/{host}?content=pack`, undefined, { 'x-host-key': '{hostKey}' }],
      status: 404,
    },
    {
      name: 'nobody but a host reads a pack of a host',
      request: ['GET', `${hosts}/{host}/packs/{host}?content=pack`],
      status: 401,
    },
    {
      name: 'show a host by name in any case',
      request: ['GET', `${hosts}/HOST-7`],
      status: 200,
      reply: { id: '{host}' },
    },
    {
      name: 'change the labels of a host',
      request: ['PUT', `${hosts}/host-7`, { labels: { zone: 'b' } }],
      status: 200,
      effects: [
        shows(`${hosts}/{host}`, { labels: { zone: 'b' } }),
        audited('hosts/update', { details: { labels: { zone: 'b' } } }),
      ],
    },
    {
      name: 'drain a host',
      request: ['PUT', `${hosts}/host-7/drain`],
      status: 200,
      effects: [shows(`${hosts}/{host}`, { drained: true }), audited('hosts/drain')],
    },
    {
      name: 'use a host again',
      request: ['PUT', `${hosts}/host-7/undrain`],
      status: 200,
      effects: [shows(`${hosts}/{host}`, { drained: false }), audited('hosts/undrain')],
    },
    {
      name: 'remove a host',
      request: ['DELETE', `${hosts}/host-7`],
      status: 202,
      effects: [
        gone(`${hosts}/{host}`),
        omits(hosts, { name: 'host-7' }),
        audited('hosts/delete'),
        answers(404, ['PUT', `${hosts}/{host}/drain`]),
      ],
    },
  ],
}
