import type { StableState, Verb } from '#lib/hypervisor/driver.ts'

/**
 * The actions that the guard table allows or refuses. The forced forms of `stop` and `delete` are actions of their own, and so are
 * an export that may suspend the machine, and a change of what the service alone does with it. `edit snapshots` renames or deletes
 * snapshots, and `copy snapshot` reads the disks of one, whatever the machine does.
 */
export type Action =
  | Verb
  | 'stop force'
  | 'clone'
  | 'fork'
  | 'export'
  | 'export suspend'
  | 'configure'
  | 'configure lifecycle'
  | 'delete'
  | 'delete force'
  | 'snapshot'
  | 'revert'
  | 'edit snapshots'
  | 'copy snapshot'

/**
 * How an action is done in a state:
 * - `run`: the driver does it.
 * - `resume`: the driver resumes the machine instead.
 * - `already`: it succeeds at once, because the machine has the wanted state.
 * - `refuse`: it is a conflict.
 * - `feature`: the driver does it if it has the feature.
 * - `hotplug`: the driver does it for the fields that it can change while the machine runs.
 * - `stop first`: after a forced stop.
 * - `suspend first`: while the machine is suspended; then the machine is resumed.
 */
export type Transition =
  | 'run'
  | 'resume'
  | 'already'
  | 'refuse'
  | 'feature'
  | 'hotplug'
  | 'stop first'
  | 'suspend first'

/** The guard table, state × action: the same rules for every driver. */
export const guardTable: Readonly<Record<StableState, Readonly<Record<Action, Transition>>>> = {
  stopped: {
    start: 'run',
    stop: 'already',
    'stop force': 'already',
    restart: 'already',
    reset: 'already',
    pause: 'refuse',
    suspend: 'refuse',
    resume: 'refuse',
    clone: 'run',
    fork: 'refuse',
    export: 'run',
    'export suspend': 'run',
    configure: 'run',
    'configure lifecycle': 'run',
    delete: 'run',
    'delete force': 'run',
    snapshot: 'run',
    revert: 'run',
    'edit snapshots': 'run',
    'copy snapshot': 'run',
  },
  running: {
    start: 'already',
    stop: 'run',
    'stop force': 'run',
    restart: 'run',
    reset: 'run',
    pause: 'run',
    suspend: 'run',
    resume: 'already',
    clone: 'feature',
    fork: 'run',
    export: 'refuse',
    'export suspend': 'suspend first',
    configure: 'hotplug',
    'configure lifecycle': 'run',
    delete: 'refuse',
    'delete force': 'stop first',
    snapshot: 'run',
    revert: 'run',
    'edit snapshots': 'run',
    'copy snapshot': 'run',
  },
  paused: {
    start: 'resume',
    stop: 'refuse',
    'stop force': 'run',
    restart: 'refuse',
    reset: 'run',
    pause: 'already',
    suspend: 'run',
    resume: 'run',
    clone: 'refuse',
    fork: 'run',
    export: 'refuse',
    'export suspend': 'refuse',
    configure: 'refuse',
    'configure lifecycle': 'run',
    delete: 'refuse',
    'delete force': 'stop first',
    snapshot: 'run',
    revert: 'run',
    'edit snapshots': 'run',
    'copy snapshot': 'run',
  },
  suspended: {
    start: 'resume',
    stop: 'refuse',
    'stop force': 'run',
    restart: 'refuse',
    reset: 'refuse',
    pause: 'refuse',
    suspend: 'already',
    resume: 'run',
    clone: 'refuse',
    fork: 'refuse',
    export: 'refuse',
    'export suspend': 'run',
    configure: 'refuse',
    'configure lifecycle': 'run',
    delete: 'refuse',
    'delete force': 'stop first',
    snapshot: 'run',
    revert: 'run',
    'edit snapshots': 'run',
    'copy snapshot': 'run',
  },
  invalid: {
    start: 'refuse',
    stop: 'already',
    'stop force': 'already',
    restart: 'refuse',
    reset: 'refuse',
    pause: 'refuse',
    suspend: 'refuse',
    resume: 'refuse',
    clone: 'refuse',
    fork: 'refuse',
    export: 'refuse',
    'export suspend': 'refuse',
    configure: 'refuse',
    'configure lifecycle': 'refuse',
    delete: 'run',
    'delete force': 'run',
    snapshot: 'refuse',
    revert: 'refuse',
    'edit snapshots': 'refuse',
    'copy snapshot': 'refuse',
  },
}

/** The state that clients see while an operation runs. */
export type TransientState =
  | 'starting'
  | 'stopping'
  | 'restarting'
  | 'resetting'
  | 'pausing'
  | 'suspending'
  | 'resuming'
  | 'cloning'
  | 'configuring'
  | 'deleting'
  | 'snapshotting'
  | 'reverting'

/** The kinds of operations. */
export type OperationKind =
  | Verb
  | 'clone'
  | 'fork'
  | 'export'
  | 'configure'
  | 'delete'
  | 'snapshot'
  | 'revert'
  | 'edit snapshots'

/** Operations that only read a machine. They run side by side; every other operation runs alone. */
export const sharedKinds: ReadonlySet<OperationKind> = new Set(['clone', 'export'])

/** The state that clients see while an operation of this kind runs. */
export const transientStates: Readonly<Record<OperationKind, TransientState>> = {
  start: 'starting',
  stop: 'stopping',
  restart: 'restarting',
  reset: 'resetting',
  pause: 'pausing',
  suspend: 'suspending',
  resume: 'resuming',
  clone: 'cloning',
  fork: 'cloning',
  // Clients know a closed list of states. Of these, `cloning` fits an export best, because it copies the machine.
  export: 'cloning',
  configure: 'configuring',
  delete: 'deleting',
  snapshot: 'snapshotting',
  revert: 'reverting',
  'edit snapshots': 'configuring',
}

const minute = 60_000

/** Milliseconds after which an operation is cancelled. A setting replaces the value of `stop`. */
export const timeLimits: Readonly<Record<OperationKind, number>> = {
  start: 2 * minute,
  stop: 3 * minute,
  restart: 5 * minute,
  reset: minute,
  pause: minute,
  suspend: 10 * minute,
  resume: 10 * minute,
  clone: 60 * minute,
  fork: 10 * minute,
  // An export reads disks of any size, as fast as a storage takes them.
  export: 24 * 60 * minute,
  configure: minute,
  delete: 10 * minute,
  snapshot: 10 * minute,
  revert: 10 * minute,
  // A deletion may merge the layers of disks.
  'edit snapshots': 60 * minute,
}

/** All states that clients can see. */
export const machineStates = [...Object.keys(guardTable), ...new Set(Object.values(transientStates))] as [
  StableState | TransientState,
  ...(StableState | TransientState)[],
]
