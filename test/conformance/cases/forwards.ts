import type { Area } from '../case.ts'
import { audited, shows } from './effects.ts'

const machines = '/v1/machines'
const forwards = `${machines}/web/forwards`
const ssh = { host_port: 58_022, guest_port: 22 }
const complete = { protocol: 'tcp', host_address: '127.0.0.1', ...ssh }
const id = 'tcp:127.0.0.1:58022'

/** Forwards, tunnels and screens. Machines have them on QEMU only. */
export const forwardArea: Area = {
  name: 'forwards',
  people: { operator: { claims: ['LIST_VM'] } },
  needs: ['qemu'],
  withHost: true,
  driver: 'qemu',
  cases: [
    {
      name: 'create a machine with a network of its own',
      request: ['POST', machines, { name: 'web', memory: 32, disks: [{ size: 1 }], network: 'isolated' }],
      status: 201,
      reply: { name: 'web', network: 'isolated' },
      saves: { web: 'id' },
      effects: [shows(forwards, [])],
    },
    {
      name: 'create a machine on a bridge that there is not',
      request: ['POST', machines, { name: 'x', disks: [{ size: 1 }], network: 'bridge:nowhere0' }],
      status: 400,
    },
    {
      name: 'create a machine with a mode beside cards',
      request: ['POST', machines, { name: 'x', disks: [{ size: 1 }], network: 'nat', networks: [] }],
      status: 400,
    },
    {
      name: 'add a forward',
      request: ['POST', forwards, ssh],
      status: 201,
      reply: { id, ...complete },
      effects: [shows(forwards, [{ id, ...complete }]), audited('machines/add-forward', { details: ssh })],
    },
    { name: 'add it again', request: ['POST', forwards, ssh], status: 409 },
    { name: 'add one to a machine that there is not', request: ['POST', `${machines}/x/forwards`, ssh], status: 404 },
    { name: 'add one with a port of the system', request: ['POST', forwards, { ...ssh, host_port: 22 }], status: 400 },
    {
      name: 'add one that everybody could reach',
      request: ['POST', forwards, { ...ssh, host_address: '0.0.0.0' }],
      status: 403,
    },
    {
      name: 'an operator sees forwards',
      as: 'operator',
      request: ['GET', forwards],
      status: 200,
      reply: [{ id }],
    },
    { name: 'an operator adds none', as: 'operator', request: ['POST', forwards, ssh], status: 403 },
    {
      name: 'delete a forward',
      request: ['DELETE', `${forwards}/${id}`],
      status: 202,
      effects: [shows(forwards, []), audited('machines/remove-forward')],
    },
    { name: 'delete it again', request: ['DELETE', `${forwards}/${id}`], status: 404 },
    {
      name: 'a tunnel to a machine that there is not',
      request: ['SOCKET', `${machines}/nothing/tunnel?port=22`, 1],
      status: 404,
    },
    { name: 'a tunnel that is no WebSocket', request: ['GET', `${machines}/web/tunnel?port=22`], status: 426 },
    {
      name: 'a tunnel to a machine that is stopped',
      request: ['SOCKET', `${machines}/web/tunnel?port=22`, 1],
      status: 409,
    },
    {
      name: 'an operator without the right opens a tunnel',
      as: 'operator',
      request: ['SOCKET', `${machines}/web/tunnel?port=22`, 1],
      status: 403,
    },
    {
      name: 'the screen of a machine that there is not',
      request: ['SOCKET', `${machines}/nothing/screen`, 1],
      status: 404,
    },
    { name: 'a screen that is no WebSocket', request: ['GET', `${machines}/web/screen`], status: 426 },
    {
      name: 'the screen of a machine without one',
      request: ['SOCKET', `${machines}/web/screen`, 1],
      status: 409,
    },
    {
      name: 'an operator without the right opens a screen',
      as: 'operator',
      request: ['SOCKET', `${machines}/web/screen?view_only=true`, 1],
      status: 403,
    },
    {
      name: 'a screen that is neither viewed nor used',
      request: ['SOCKET', `${machines}/web/screen?view_only=maybe`, 1],
      status: 400,
    },
    {
      name: 'give a machine a screen',
      request: [
        'PUT',
        `${machines}/web/set`,
        { operations: [{ group: 'display', operation: 'set', value: 'on', options: [], flags: [] }] },
      ],
      status: 200,
      effects: [shows(`${machines}/web`, [{ Hardware: { video: { 'adapter-type': 'VGA' } } }])],
    },
    {
      name: 'the picture of a machine that is stopped',
      request: ['GET', `${machines}/web/screenshot`],
      status: 409,
    },
    { name: 'the picture of no machine', request: ['GET', `${machines}/nothing/screenshot`], status: 404 },
    {
      name: 'an operator takes no picture',
      as: 'operator',
      request: ['GET', `${machines}/web/screenshot`],
      status: 403,
    },
  ],
}
