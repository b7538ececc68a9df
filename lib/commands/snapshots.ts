import type { Column, CommandDefinition, Input } from './definition.ts'

export const machine: Input = { flag: '<machine>', to: 'params.id', about: 'name or id of the machine' }
const snapshot: Input = { flag: '<snapshot>', to: 'params.snapshot', about: 'name or id of the snapshot' }
const description: Input = {
  flag: '--description <text>',
  to: 'body.snapshot_description',
  about: 'text for people',
}

const columns: readonly Column[] = [
  ['NAME', 'name'],
  ['CREATED', 'created_at', 'time'],
  ['STATE', 'state'],
  ['SIZE', 'size', 'bytes'],
  ['CURRENT', 'current'],
  ['PARENT', 'parent'],
  ['DESCRIPTION', 'description'],
]

/** The commands of `vmhost machines snapshots`. */
export const snapshotCommands: readonly CommandDefinition[] = [
  {
    name: 'snapshots list',
    alias: 'ls',
    operation: 'machines.listSnapshots',
    summary: 'List the snapshots of a machine, oldest first',
    inputs: [machine],
    items: 'snapshots',
    columns,
    empty: 'This machine has no snapshots.',
  },
  {
    name: 'snapshots show',
    operation: 'machines.showSnapshot',
    summary: 'Show a snapshot',
    inputs: [machine, snapshot],
    rows: columns.map(([head, ...rest]): Column => [head.toLowerCase(), ...rest]),
  },
  {
    name: 'snapshots create',
    operation: 'machines.createSnapshot',
    summary: 'Make a snapshot of a machine',
    inputs: [
      machine,
      { flag: '[name]', to: 'body.snapshot_name', about: 'name of the snapshot; default: Snapshot and a number' },
      description,
      { flag: '--no-memory', to: 'body.memory', kind: 'no', about: 'save the disks alone, as after a power cut' },
    ],
    asJob: true,
    says: 'Created {snapshot_name} ({snapshot_id}).',
  },
  {
    name: 'snapshots update',
    operation: 'machines.updateSnapshot',
    summary: 'Change the name or the description of a snapshot',
    inputs: [machine, snapshot, { flag: '--name <name>', to: 'body.snapshot_name', about: 'new name' }, description],
    says: 'Changed {snapshot}.',
  },
  {
    name: 'snapshots revert',
    operation: 'machines.revertToSnapshot',
    summary: 'Revert a machine to a snapshot; what has changed since is lost',
    inputs: [
      machine,
      snapshot,
      { flag: '--skip-resume', to: 'body.skip_resume', about: 'leave a machine with its memory suspended' },
    ],
    asJob: true,
    says: '{machine} is reverted to {snapshot}.',
  },
  {
    name: 'snapshots delete',
    alias: 'rm',
    operation: 'machines.deleteSnapshot',
    summary: 'Delete a snapshot',
    inputs: [
      machine,
      snapshot,
      { flag: '--children', to: 'body.delete_children', about: 'delete the snapshots that were made on top of it too' },
    ],
    says: 'Deleted {snapshot}.',
  },
  {
    name: 'snapshots delete-all',
    operation: 'machines.deleteSnapshots',
    summary: 'Delete all snapshots of a machine',
    inputs: [machine],
    says: 'Deleted the snapshots of {machine}.',
  },
]
