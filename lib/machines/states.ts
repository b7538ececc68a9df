import type { StableState, Verb } from '#lib/hypervisor/driver.ts'

/**
 * What a state lets happen to a machine; `stop` and `delete` have a forced form of their own, and `export` one that may
 * suspend the machine meanwhile.
 */
export type Action =
  | Verb
  | 'stop force'
  | 'clone'
  | 'export'
  | 'export suspend'
  | 'configure'
  | 'delete'
  | 'delete force'

/**
 * What an action does in a state:
 * `run` does it; `resume` does it by resuming; `already` answers success without doing anything; `refuse` is a conflict;
 * `feature` runs where the driver can, `hotplug` for the fields that the driver can change on a running machine;
 * `stop first` forces a stop, then does it; `suspend first` suspends, does it, and resumes.
 */
export type Cell = 'run' | 'resume' | 'already' | 'refuse' | 'feature' | 'hotplug' | 'stop first' | 'suspend first'

/** State × action: the rules of the service, for every driver. */
export const guard: Readonly<Record<StableState, Readonly<Record<Action, Cell>>>> = {
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
    export: 'run',
    'export suspend': 'run',
    configure: 'run',
    delete: 'run',
    'delete force': 'run',
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
    export: 'refuse',
    'export suspend': 'suspend first',
    configure: 'hotplug',
    delete: 'refuse',
    'delete force': 'stop first',
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
    export: 'refuse',
    'export suspend': 'refuse',
    configure: 'refuse',
    delete: 'refuse',
    'delete force': 'stop first',
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
    export: 'refuse',
    'export suspend': 'run',
    configure: 'refuse',
    delete: 'refuse',
    'delete force': 'stop first',
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
    export: 'refuse',
    'export suspend': 'refuse',
    configure: 'refuse',
    delete: 'run',
    'delete force': 'run',
  },
}

/** A state that a machine is in only while an operation runs. */
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

/** What is done to a machine as an operation. */
export type Kind = Verb | 'clone' | 'export' | 'configure' | 'delete'

/** What only reads a machine: such operations run side by side, while any other has the machine to itself. */
export const shared: ReadonlySet<Kind> = new Set(['clone', 'export'])

/** What a machine is shown as while an operation of this kind runs. */
export const transient: Readonly<Record<Kind, TransientState>> = {
  start: 'starting',
  stop: 'stopping',
  restart: 'restarting',
  reset: 'resetting',
  pause: 'pausing',
  suspend: 'suspending',
  resume: 'resuming',
  clone: 'cloning',
  // Clients know a closed list of states; of these it is the one for a machine that is being copied.
  export: 'cloning',
  configure: 'configuring',
  delete: 'deleting',
}

const minute = 60_000

/** How long an operation may take before it is given up, in milliseconds; `stop` is configurable. */
export const limits: Readonly<Record<Kind, number>> = {
  start: 2 * minute,
  stop: 3 * minute,
  restart: 5 * minute,
  reset: minute,
  pause: minute,
  suspend: 10 * minute,
  resume: 10 * minute,
  clone: 60 * minute,
  // Not only reads disks of any size, but hands them on at whatever pace the other end takes them.
  export: 24 * 60 * minute,
  configure: minute,
  delete: 10 * minute,
}

/** Every state that a machine is shown in. */
export const machineStates = [...Object.keys(guard), ...new Set(Object.values(transient))] as [
  StableState | TransientState,
  ...(StableState | TransientState)[],
]
