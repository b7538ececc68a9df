import type { Area, Case } from '../case.ts'
import { has, hasLength, lacks, matches, present } from '../expectation.ts'
import { audited, shows } from './effects.ts'

const claims = '/v1/auth/claims'
const events = '/v1/events'
const stream = `${events}/stream`
const subscribe = '/v1/ws/subscribe'

const create = (name: string, effects: Case['effects']): Case => ({
  name: `an event about the claim ${name}`,
  request: ['POST', claims, { name }],
  status: 201,
  effects: effects ?? [],
})

export const eventArea: Area = {
  name: 'events',
  people: { reader: { claims: ['LIST_CLAIM'] }, other: {} },
  cases: [
    {
      name: 'the place in the log where the cases begin',
      request: ['GET', `${events}?limit=1000`],
      status: 200,
      reply: { cursor: matches(/^[0-9a-f]{8}-\d+$/) },
      saves: { begin: 'cursor' },
    },
    {
      name: 'nothing has happened since',
      request: ['GET', `${events}?since={begin}`],
      status: 200,
      reply: { events: [], cursor: '{begin}' },
    },
    create('one', [
      shows(`${events}?since={begin}`, {
        events: [
          { event_type: 'auth', message: 'CLAIM_ADDED', body: { claim_id: 'ONE' }, id: matches(/^[0-9a-f]{64}$/) },
        ],
        cursor: present,
      }),
    ]),
    create('two', [
      shows(`${events}?since={begin}&limit=1`, { events: [{ body: { claim_id: 'ONE' } }] }),
      shows(`${events}?since={begin}`, { events: hasLength(2) }),
      shows(`${events}?since={begin}`, { events: hasLength(2) }, 'reader'),
      shows(`${events}?since={begin}`, { events: [] }, 'other'),
      shows(`${events}?since={begin}&types=pdfm`, { events: [] }),
    ]),
    {
      name: 'a page ends at its limit',
      request: ['GET', `${events}?since={begin}&limit=1`],
      status: 200,
      saves: { afterOne: 'cursor' },
    },
    {
      name: 'the next page begins there',
      request: ['GET', `${events}?since={afterOne}`],
      status: 200,
      reply: { events: [{ body: { claim_id: 'TWO' } }] },
    },
    {
      name: 'a cursor of another log has a gap',
      request: ['GET', `${events}?since=00000000-1`],
      status: 200,
      reply: { gap: true },
    },
    { name: 'a cursor that is none', request: ['GET', `${events}?since=bogus`], status: 400 },
    {
      name: 'types that there are not are left out',
      request: ['GET', `${events}?types=auth,nonsense&since={begin}`],
      status: 200,
      reply: { events: hasLength(2) },
    },
    {
      name: 'a private event is for its user alone',
      as: 'other',
      request: ['POST', '/v1/user/configs', { slug: 'mine', value: '' }],
      status: 201,
      effects: [
        shows(
          `${events}?since={begin}&types=system`,
          { events: [{ message: 'USER_CONFIG_ADDED', body: { slug: 'mine' } }] },
          'other',
        ),
        shows(`${events}?since={begin}&types=system`, { events: [] }),
      ],
    },
    {
      name: 'a stream from a cursor',
      request: ['STREAM', `${stream}?since={begin}&types=auth`, 2],
      status: 200,
      reply: matches(/"claim_id":"ONE"[^]*"claim_id":"TWO"/),
      headers: {
        'content-type': matches(/^text\/event-stream/),
        'cache-control': 'no-store',
        'x-accel-buffering': 'no',
      },
    },
    {
      name: 'a stream that continues after the last event that came',
      request: ['STREAM', `${stream}?types=auth`, 1, { 'last-event-id': '{afterOne}' }],
      status: 200,
      reply: matches(/^id: [0-9a-f]{8}-\d+\n[^]*"claim_id":"TWO"/),
    },
    {
      name: 'a stream shows what its reader may see',
      as: 'reader',
      request: ['STREAM', `${stream}?since={begin}`, 2],
      status: 200,
      reply: matches(/"claim_id":"ONE"[^]*"claim_id":"TWO"/),
    },
    { name: 'a stream from a cursor that is none', request: ['GET', `${stream}?since=bogus`], status: 400 },
    { name: 'a stream without a credential', as: 'anonymous', request: ['GET', stream], status: 401 },
    {
      name: 'a WebSocket without an upgrade',
      request: ['GET', subscribe],
      status: 426,
      headers: { 'content-type': 'application/json' },
    },
    { name: 'a WebSocket without a credential', as: 'anonymous', request: ['SOCKET', subscribe, 1], status: 401 },
    {
      name: 'issue a ticket for a WebSocket',
      request: ['POST', '/v1/auth/tickets', { path: `${subscribe}?event_types=auth` }],
      status: 201,
      reply: { ticket: present, expires_at: present },
      saves: { ticket: 'ticket' },
      effects: [audited('auth/create-ticket', { details: undefined })],
    },
    {
      name: 'a WebSocket with a ticket for another query',
      as: 'anonymous',
      request: ['SOCKET', `${subscribe}?event_types=pdfm&ticket=none`, 1],
      status: 401,
    },
    {
      name: 'a WebSocket with a ticket',
      as: 'anonymous',
      request: ['SOCKET', `${subscribe}?event_types=auth&ticket={ticket}`, 1],
      status: 101,
      reply: [{ event_type: 'global', body: { subscriptions: has('auth', 'global') } }],
    },
    {
      name: 'a WebSocket with a ticket that was used',
      as: 'anonymous',
      request: ['SOCKET', `${subscribe}?event_types=auth&ticket={ticket}`, 1],
      status: 401,
    },
    {
      name: 'a ticket for what is no WebSocket',
      request: ['POST', '/v1/auth/tickets', { path: '/v1/jobs' }],
      status: 400,
    },
    {
      name: 'nobody gets a ticket',
      as: 'anonymous',
      request: ['POST', '/v1/auth/tickets', { path: subscribe }],
      status: 401,
    },
    {
      name: 'a WebSocket welcomes, and says what it sends',
      request: ['SOCKET', `${subscribe}?event_types=auth,nonsense`, 1],
      status: 101,
      reply: [
        { event_type: 'global', body: { subscriptions: has('auth', 'global'), unknown_event_types: ['nonsense'] } },
      ],
      saves: { client: '0.client_id' },
      effects: [
        shows('/v1/ws/clients', [
          { id: '{client}', username: 'root', event_subscriptions: has('auth'), is_alive: true },
        ]),
        shows('/v1/ws/stats', { total_clients: 1, type_stats: { auth: 1 } }),
      ],
    },
    create('three', [
      {
        request: ['MESSAGES', '', 1],
        reply: [{ event_type: 'auth', message: 'CLAIM_ADDED', body: { claim_id: 'THREE' }, cursor: present }],
      },
    ]),
    {
      name: 'nobody else ends the types of a WebSocket',
      as: 'reader',
      request: ['POST', '/v1/ws/unsubscribe', { client_id: '{client}', event_types: ['auth'] }],
      status: 403,
    },
    {
      name: 'unsubscribe a WebSocket from a type',
      request: ['POST', '/v1/ws/unsubscribe', { client_id: '{client}', event_types: ['auth'] }],
      status: 200,
      effects: [
        shows('/v1/ws/clients', [{ id: '{client}', event_subscriptions: lacks('auth') }]),
        audited('events/unsubscribe'),
      ],
    },
    {
      name: 'unsubscribe a WebSocket that there is not',
      request: ['POST', '/v1/ws/unsubscribe', { client_id: 'nobody', event_types: ['auth'] }],
      status: 404,
    },
    {
      name: 'a WebSocket from a cursor gets all that came since',
      as: 'reader',
      request: ['SOCKET', `${subscribe}?since={begin}&event_types=auth`, 4],
      status: 101,
      reply: [
        { event_type: 'global' },
        { body: { claim_id: 'ONE' } },
        { body: { claim_id: 'TWO' } },
        { body: { claim_id: 'THREE' } },
      ],
    },
    {
      name: 'deleted claims have events too',
      request: ['DELETE', `${claims}/two`],
      status: 202,
      effects: [{ request: ['MESSAGES', '', 1], reply: [{ message: 'CLAIM_REMOVED', body: { claim_id: 'TWO' } }] }],
    },
    {
      name: 'a WebSocket for somebody who may see nothing only welcomes',
      as: 'other',
      request: ['SOCKET', `${subscribe}?since={begin}&event_types=auth`, 1],
      status: 101,
      reply: [{ event_type: 'global' }],
      effects: [shows('/v1/ws/clients', has({ username: 'other' }))],
    },
  ],
}
