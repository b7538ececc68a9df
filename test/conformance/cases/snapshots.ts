import type { Area, Effect } from '../case.ts'
import { audited, gone, published, shows } from './effects.ts'

const machines = '/v1/machines'
const snapshots = `${machines}/box/snapshots`

/** A later list, whose status is that of other services, has these snapshots. */
const listed = (query: string, list: readonly object[]): Effect => ({
  ...shows(`${snapshots}${query}`, { snapshots: list }),
  status: 202,
})

/** Snapshots of a machine that does not run. The contract suite of drivers has those of running guests. */
export const snapshotArea: Area = {
  name: 'snapshots',
  people: { operator: { claims: ['LIST_VM', 'LIST_OWN_VM_SNAPSHOT', 'CREATE_OWN_VM_SNAPSHOT'] } },
  needs: ['qemu'],
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
