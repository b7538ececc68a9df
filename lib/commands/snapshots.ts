import type { Column, CommandDefinition, Input } from './definition.ts'

export const machine: Input = { flag: '<machine>', to: 'params.id', about: 'name or id of the machine' }
const snapshot: Input = { flag: '<snapshot>', to: 'params.snapshot', about: 'name or id of the snapshot' }
const description: Input = {
  flag: '--description <text>',
  to: 'body.snapshot_description',
  about: 'text for people',
}

const schedule: Input = { flag: '<schedule>', to: 'params.schedule', about: 'name of the schedule' }
const keepRules = (['last', 'hourly', 'daily', 'weekly'] as const).map((rule): Input => {
  const about = rule === 'last' ? 'so many of the newest' : `the newest of each period, so many ${rule} ones`
  return { flag: `--keep-${rule} <number>`, to: `body.keep.${rule}`, kind: 'number', about: `keep ${about}` }
})

const columns: readonly Column[] = [
  ['NAME', 'name'],
  ['CREATED', 'created_at', 'time'],
  ['STATE', 'state'],
  ['SIZE', 'size', 'bytes'],
  ['CURRENT', 'current'],
  ['SCHEDULE', 'schedule'],
  ['PARENT', 'parent'],
  ['DESCRIPTION', 'description'],
]

/** The commands of `vmhost machines snapshots` and `vmhost machines snapshot-schedules`. */
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
  {
    name: 'snapshot-schedules list',
    alias: 'ls',
    operation: 'snapshotSchedules.list',
    summary: 'List the schedules of snapshots of a machine',
    inputs: [machine],
    items: 'schedules',
    columns: [
      ['NAME', 'name'],
      ['EVERY (s)', 'every', 'count'],
      ['AT', 'at'],
      ['MEMORY', 'memory'],
      ['KEEP', 'keep', 'pairs'],
      ['NEXT', 'next_at', 'time'],
      ['LAST', 'last_at', 'time'],
      ['SET BY', 'set_by'],
      ['PROBLEM', 'problem'],
    ],
    empty: 'This machine has no schedules of snapshots.',
  },
  {
    name: 'snapshot-schedules set',
    operation: 'snapshotSchedules.set',
    summary: 'Set when snapshots of a machine are made, and which are kept',
    inputs: [
      machine,
      schedule,
      { flag: '--every <seconds>', to: 'body.every', kind: 'number', about: 'time from one snapshot to the next' },
      { flag: '--at <time>', to: 'body.at', kind: 'list', about: 'time of the day (UTC), such as 03:00' },
      { flag: '--memory', to: 'body.memory', about: 'save the memory too: each snapshot is a checkpoint' },
      ...keepRules,
      { flag: '--max-size <MB>', to: 'body.max_size', kind: 'number', about: 'what its snapshots may take together' },
    ],
    says: 'The schedule {name} runs at {next_at}.',
  },
  {
    name: 'snapshot-schedules delete',
    alias: 'rm',
    operation: 'snapshotSchedules.delete',
    summary: 'Delete a schedule of snapshots; the snapshots that it has made stay',
    inputs: [machine, schedule],
    says: 'Deleted the schedule {schedule}.',
  },
]
