import type { Area, Case, Effect } from '../case.ts'
import { audited, gone, published, shows } from './effects.ts'

const machines = '/v1/machines'
const snapshots = `${machines}/box/snapshots`

/** A later list, whose status is that of other services, has these snapshots. */
const listed = (query: string, list: readonly object[]): Effect => ({
  ...shows(`${snapshots}${query}`, { snapshots: list }),
  status: 202,
})

const push = { catalog_id: 'box', version: '1', uuid: 'box', connection: '{connection}', snapshot: 'BASE' }

const copies: readonly Case[] = [
  {
    name: 'clone a snapshot',
    request: ['PUT', `${machines}/box/clone`, { clone_name: 'copy', snapshot: 'Base' }],
    status: 200,
    saves: { copy: 'id' },
    effects: [
      shows(`${machines}/copy`, [{ ID: '{copy}', State: 'stopped' }]),
      listed('', [{ name: 'base' }, { name: 'Snapshot 1' }]),
      audited('machines/clone', { details: { clone_name: 'copy', snapshot: 'Base' } }),
    ],
  },
  {
    name: 'make a linked clone of a snapshot',
    request: ['PUT', `${machines}/box/clone?linked=true`, { clone_name: 'linked', snapshot: '{clean}' }],
    status: 200,
    effects: [shows(`${machines}/linked/status`, { status: 'stopped' })],
  },
  {
    name: 'clone a snapshot that there is not',
    request: ['PUT', `${machines}/box/clone`, { clone_name: 'none', snapshot: 'x' }],
    status: 404,
  },
  {
    name: 'an operator clones a snapshot of a machine of others',
    as: 'operator',
    request: ['PUT', `${machines}/box/clone`, { clone_name: 'none', snapshot: 'base' }],
    status: 403,
  },
  {
    name: 'push a snapshot',
    request: ['POST', '/v1/catalog/push', push],
    status: 200,
    reply: [{ catalog_id: 'box', version: '1', type: 'qemu' }],
    effects: [audited('catalog/push', { details: { uuid: 'box', snapshot: 'BASE' } })],
  },
  {
    name: 'pull it',
    request: ['PUT', '/v1/catalog/pull', { catalog_id: 'box', version: '1', machine_name: 'pulled' }],
    status: 200,
    effects: [shows(`${machines}/pulled/status`, { status: 'stopped' })],
  },
  { name: 'push no snapshot', request: ['POST', '/v1/catalog/push', { ...push, snapshot: 'x' }], status: 404 },
  {
    name: 'push a snapshot and suspend the machine',
    request: ['POST', '/v1/catalog/push', { ...push, suspend: true }],
    status: 400,
  },
]

const schedules = `${machines}/box/snapshot-schedules`
const nightly = { at: ['03:00'], keep: { daily: 7, weekly: 4 } }
const ofControl = 'a host cannot look up the rights of a user of its control when a schedule runs'

const scheduling: readonly Case[] = [
  {
    name: 'set a schedule',
    request: ['PUT', `${schedules}/nightly`, nightly],
    status: 200,
    differs: { workerd: { reason: ofControl, parts: ['status', 'body'], status: 403 } },
  },
  {
    name: 'list schedules',
    request: ['GET', schedules],
    status: 200,
    differs: { workerd: { reason: ofControl, parts: ['body'] } },
  },
  { name: 'set a schedule without a time', request: ['PUT', `${schedules}/x`, { keep: { last: 1 } }], status: 400 },
  { name: 'set one that keeps nothing', request: ['PUT', `${schedules}/x`, { every: 60, keep: {} }], status: 400 },
  { name: 'set one with a bad name', request: ['PUT', `${schedules}/-x`, nightly], status: 400 },
  { name: 'set one of no machine', request: ['PUT', `${machines}/x/snapshot-schedules/x`, nightly], status: 404 },
  {
    name: 'an operator sets a schedule for a machine of others',
    as: 'operator',
    request: ['PUT', `${schedules}/x`, nightly],
    status: 403,
  },
  { name: 'an operator lists schedules there', as: 'operator', request: ['GET', schedules], status: 403 },
  {
    name: 'delete a schedule',
    request: ['DELETE', `${schedules}/Nightly`],
    status: 202,
    differs: { workerd: { reason: ofControl, parts: ['status', 'body'], status: 404 } },
  },
  { name: 'delete no schedule', request: ['DELETE', `${schedules}/nightly`], status: 404 },
  {
    name: 'show the snapshot of a moment',
    request: ['GET', `${snapshots}/@2100-01-01T00:00:00Z`],
    status: 200,
    reply: { name: 'Snapshot 1' },
  },
  { name: 'show one of a moment before all', request: ['GET', `${snapshots}/@2000-01-01T00:00:00Z`], status: 404 },
  { name: 'show one of no moment', request: ['GET', `${snapshots}/@noon`], status: 400 },
]

/** Schedules at a host. The area of snapshots has what a control says of them. */
export const snapshotScheduleArea: Area = {
  name: 'schedules of snapshots',
  leftOut: { workerd: ofControl },
  withHost: true,
  driver: 'qemu',
  needs: ['qemu'],
  cases: [
    {
      name: 'create a machine with schedules',
      request: ['POST', machines, { name: 'box', memory: 32, disks: [{ size: 1 }] }],
      status: 201,
      saves: { box: 'id' },
    },
    {
      name: 'set its schedule',
      request: ['PUT', `${schedules}/nightly`, nightly],
      status: 200,
      effects: [{ request: ['GET', schedules], reply: { schedules: [{ name: 'nightly', ...nightly }] } }],
    },
    {
      name: 'delete its schedule',
      request: ['DELETE', `${schedules}/Nightly`],
      status: 202,
      effects: [{ request: ['GET', schedules], reply: { schedules: [] } }],
    },
  ],
}

/** Snapshots of a machine that does not run. The contract suite of drivers has those of running guests. */
export const snapshotArea: Area = {
  name: 'snapshots',
  people: {
    operator: { claims: ['LIST_VM', 'LIST_OWN_VM_SNAPSHOT', 'CREATE_OWN_VM_SNAPSHOT', 'CREATE_VM'] },
  },
  needs: ['qemu', 'bucket'],
  withHost: true,
  driver: 'qemu',
  cases: [
    {
      name: 'create a machine',
      request: ['POST', machines, { name: 'box', memory: 32, disks: [{ size: 1 }] }],
      status: 201,
      saves: { box: 'id' },
      effects: [listed('', [])],
    },
    {
      name: 'make a snapshot',
      request: ['POST', snapshots, { snapshot_name: 'clean', snapshot_description: 'as installed' }],
      status: 202,
      reply: { snapshot_name: 'clean' },
      saves: { clean: 'snapshot_id' },
      effects: [
        shows(`${snapshots}/CLEAN`, { name: 'clean', description: 'as installed', state: 'poweroff', current: true }),
        audited('machines/create-snapshot', { details: { snapshot_name: 'clean' } }),
        published('pdfm', 'VM_SNAPSHOTS_UPDATED', { snapshots: [{ name: 'clean' }] }),
      ],
    },
    { name: 'make one of the same name', request: ['POST', snapshots, { snapshot_name: 'Clean' }], status: 409 },
    { name: 'make one with an empty name', request: ['POST', snapshots, { snapshot_name: ' ' }], status: 400 },
    { name: 'make one with a member that there is not', request: ['POST', snapshots, { name: 'x' }], status: 400 },
    { name: 'make one of no machine', request: ['POST', `${machines}/x/snapshots`, {}], status: 404 },
    {
      name: 'make one without a name',
      request: ['POST', snapshots],
      status: 202,
      reply: { snapshot_name: 'Snapshot 1' },
      effects: [listed('?group=true', [{ name: 'clean', children: [{ name: 'Snapshot 1', current: true }] }])],
    },
    { name: 'group by what is neither true nor false', request: ['GET', `${snapshots}?group=maybe`], status: 400 },
    {
      name: 'rename a snapshot',
      request: ['PUT', `${snapshots}/clean`, { snapshot_name: 'base' }],
      status: 200,
      reply: { name: 'base', description: 'as installed' },
      effects: [gone(`${snapshots}/clean`), audited('machines/update-snapshot')],
    },
    { name: 'change nothing', request: ['PUT', `${snapshots}/base`, {}], status: 400 },
    {
      name: 'give a name that is taken',
      request: ['PUT', `${snapshots}/base`, { snapshot_name: 'snapshot 1' }],
      status: 409,
    },
    { name: 'rename no snapshot', request: ['PUT', `${snapshots}/x`, { snapshot_name: 'y' }], status: 404 },
    {
      name: 'revert to a snapshot',
      request: ['POST', `${snapshots}/base/revert`],
      status: 202,
      reply: { name: 'base', current: true },
      effects: [audited('machines/revert-to-snapshot')],
    },
    { name: 'revert to no snapshot', request: ['POST', `${snapshots}/x/revert`], status: 404 },
    {
      name: 'revert in a way that there is not',
      request: ['POST', `${snapshots}/base/revert`, { skip_resume: 'maybe' }],
      status: 400,
    },
    ...copies,
    ...scheduling,
    {
      name: 'an operator lists those of a machine of others',
      as: 'operator',
      request: ['GET', snapshots],
      status: 403,
    },
    { name: 'an operator makes one there', as: 'operator', request: ['POST', snapshots], status: 403 },
    {
      name: 'an operator without the right reverts',
      as: 'operator',
      request: ['POST', `${snapshots}/base/revert`],
      status: 403,
    },
    { name: 'an operator deletes none', as: 'operator', request: ['DELETE', `${snapshots}/base`], status: 403 },
    {
      name: 'delete a snapshot with its children',
      request: ['DELETE', `${snapshots}/base`, { delete_children: true }],
      status: 202,
      effects: [listed('', []), audited('machines/delete-snapshot')],
    },
    { name: 'delete it again', request: ['DELETE', `${snapshots}/base`], status: 404 },
    {
      name: 'delete all',
      request: ['DELETE', snapshots],
      status: 202,
      effects: [audited('machines/delete-snapshots')],
    },
    { name: 'delete all of no machine', request: ['DELETE', `${machines}/x/snapshots`], status: 404 },
  ],
}
