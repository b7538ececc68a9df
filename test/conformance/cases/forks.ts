import type { Area } from '../case.ts'
import { hasLength } from '../expectation.ts'
import { audited, comesToShow, gone, published, shows } from './effects.ts'

const machines = '/v1/machines'
const forks = `${machines}/web/fork`

/** Forks. Machines have them on QEMU only. */
export const forkArea: Area = {
  name: 'forks',
  people: { operator: { claims: ['LIST_VM'] } },
  needs: ['qemu'],
  withHost: true,
  driver: 'qemu',
  cases: [
    {
      name: 'create the machine that forks',
      request: ['POST', machines, { name: 'web', memory: 32, disks: [{ size: 1 }], labels: { team: 'web' } }],
      status: 201,
    },
    { name: 'fork a machine that is stopped', request: ['POST', forks, {}], status: 409 },
    { name: 'start the machine', request: ['PUT', `${machines}/web/start`], status: 200 },
    {
      name: 'fork it',
      request: ['POST', forks, { names: ['one', 'two'], labels: { use: 'test' }, ephemeral: true, ttl: 3600 }],
      status: 201,
      reply: {
        forks: [
          { name: 'one', current_state: 'running' },
          { name: 'two', current_state: 'running' },
        ],
        pending: ['mac_address'],
        unchanged: ['hostname', 'machine_id', 'host_keys', 'open_connections', 'secrets_in_memory', 'content_of_disks'],
      },
      effects: [
        shows(machines, hasLength(3)),
        shows(`${machines}/web/status`, { status: 'running' }),
        shows(`${machines}/one/status`, { status: 'running' }),
        shows(`${machines}?labels=use%3Dtest,team%3Dweb`, hasLength(2)),
        published('pdfm', 'VM_ADDED'),
        audited('machines/fork', { details: { names: ['one', 'two'], ephemeral: true, ttl: 3600 } }),
      ],
    },
    { name: 'fork it to a name that is taken', request: ['POST', forks, { names: ['ONE'] }], status: 409 },
    { name: 'fork it to the same name twice', request: ['POST', forks, { names: ['a', 'A'] }], status: 409 },
    {
      name: 'fork it more often than there are names',
      request: ['POST', forks, { count: 2, names: ['a'] }],
      status: 400,
    },
    { name: 'fork it no time', request: ['POST', forks, { count: 0 }], status: 400 },
    { name: 'fork it with something unknown', request: ['POST', forks, { memory: 64 }], status: 400 },
    { name: 'fork a machine that there is not', request: ['POST', `${machines}/nothing/fork`, {}], status: 404 },
    { name: 'fork a fork before its next start', request: ['POST', `${machines}/two/fork`, {}], status: 409 },
    {
      name: 'keep the moment of the machine',
      request: ['POST', `${machines}/web/snapshots`, { snapshot_name: 'kept' }],
      status: 202,
    },
    {
      name: 'fork the snapshot',
      request: ['POST', forks, { snapshot: 'kept', names: ['three'], ephemeral: true }],
      status: 201,
      reply: {
        forks: [{ name: 'three', current_state: 'running' }],
        pending: ['mac_address', 'hostname', 'machine_id', 'random_numbers'],
      },
      effects: [
        shows(`${machines}/three/status`, { status: 'running' }),
        audited('machines/fork', { details: { snapshot: 'kept', names: ['three'], ephemeral: true } }),
      ],
    },
    { name: 'fork a snapshot that there is not', request: ['POST', forks, { snapshot: 'other' }], status: 404 },
    {
      name: 'delete the fork of the snapshot',
      request: ['DELETE', `${machines}/three?force=true`],
      status: 202,
      effects: [gone(`${machines}/three`)],
    },
    { name: 'an operator forks none', as: 'operator', request: ['POST', forks, {}], status: 403 },
    {
      name: 'delete the machine under its forks',
      request: ['DELETE', `${machines}/web?force=true`],
      status: 409,
    },
    {
      name: 'a fork that is made to end with its stop',
      request: ['PUT', `${machines}/one/stop?force=true`],
      status: 200,
      effects: [comesToShow(machines, hasLength(2))],
    },
    {
      name: 'delete the other fork',
      request: ['DELETE', `${machines}/two?force=true`],
      status: 202,
      effects: [gone(`${machines}/two`)],
    },
    { name: 'delete the machine', request: ['DELETE', `${machines}/web?force=true`], status: 202 },
  ],
}
