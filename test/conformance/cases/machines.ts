import type { Area, Case, Effect } from '../case.ts'
import { has, hasLength, present } from '../expectation.ts'
import { answers, audited, comesToShow, gone, lists, omits, published, shows } from './effects.ts'

const machines = '/v1/machines'
const web = `${machines}/web`
const definition = {
  name: 'web',
  description: 'Web server',
  cpus: 1,
  memory: 32,
  disks: [{ size: 1 }],
  kernel: '{kernel}',
}

const isIn = (state: string): Effect => shows(`${web}/status`, { id: '{web}', status: state })
const became = (from: string, to: string): Effect =>
  published('pdfm', 'VM_STATE_CHANGED', { vm_id: '{web}', previous_state: from, current_state: to })

/** What the guest is told at its first boot, and how it is deleted. */
const cloudInit: readonly Case[] = [
  {
    name: 'create a machine whose cloud-init is told something',
    request: [
      'POST',
      machines,
      { ...definition, name: 'told', user_data: '#cloud-config\n', hostname: 'told.example.org' },
    ],
    status: 201,
    effects: [shows(`${machines}/told`, [{ Name: 'told' }])],
  },
  {
    name: 'delete what its cloud-init is told',
    request: ['DELETE', `${machines}/told/cloud-init`],
    status: 202,
    effects: [audited('machines/delete-cloud-init'), answers(404, ['DELETE', `${machines}/told/cloud-init`])],
  },
  {
    name: 'delete the machine whose cloud-init was told something',
    request: ['DELETE', `${machines}/told`],
    status: 202,
    effects: [gone(`${machines}/told`)],
  },
]

/** A verb that changes the state of a machine. */
const verb = (name: string, state: string, transient: string, { method = 'PUT', query = '' } = {}): Case => ({
  name: `${method === 'GET' ? 'by a GET, ' : ''}${name}${query} a machine, which is ${state} then`,
  request: [method, `${web}/${name}${query}`],
  status: 200,
  reply: { id: '{web}', status: 'Success' },
  effects: [
    isIn(state),
    shows(web, [{ State: state }]),
    became(transient, state),
    audited(`machines/${name}`, { method }),
  ],
})
const refused = (name: string, state: string): Case => ({
  name: `${name} a ${state} machine`,
  request: ['PUT', `${web}/${name}`],
  status: 409,
  effects: [isIn(state)],
})
const already = (name: string, state: string): Case => ({
  name: `${name} a machine that is ${state} already`,
  request: ['PUT', `${web}/${name}`],
  status: 200,
  effects: [isIn(state)],
})
const set = (group: string, operation: string, value: string): Case['request'] => [
  'PUT',
  `${web}/set`,
  { operations: [{ group, operation, value }] },
]
const created: Case = {
  name: 'create a machine',
  request: ['POST', machines, definition],
  status: 201,
  reply: { name: 'web', current_state: 'stopped' },
  saves: { web: 'id' },
  effects: [
    isIn('stopped'),
    shows(web, [{ ID: '{web}', Name: 'web', Description: 'Web server', State: 'stopped' }]),
    lists(machines, { ID: '{web}' }),
    published('pdfm', 'VM_ADDED', { vm_id: '{web}', new_vm: { Name: 'web' } }),
    audited('machines/create', { details: { name: 'web' } }),
  ],
}

/** What needs the agent of a guest, which the guest of these cases does not have. */
const inGuest: readonly Case[] = [
  { name: 'execute in a guest without an agent', request: ['PUT', `${web}/execute`, { command: 'true' }], status: 409 },
  {
    name: 'an operator does not execute in the guest of another',
    as: 'operator',
    request: ['PUT', `${web}/execute`, { command: 'true' }],
    status: 403,
    effects: [audited('machines/execute', { username: 'operator', outcome: 'refused' })],
  },
  {
    name: 'execute in a guest with a misspelled member',
    request: ['PUT', `${web}/execute`, { comand: 'true' }],
    status: 400,
  },
  ...['read', 'write'].map((verb): Case => {
    const file = `${web}/files?path=/etc/motd`
    return {
      name: `${verb} a file of a guest without an agent`,
      request: verb === 'read' ? ['GET', file] : ['PUT', file, 'text'],
      status: 409,
      effects: [audited(`machines/${verb}-file`, { outcome: 'refused', details: { path: '/etc/motd' } })],
    }
  }),
  {
    name: 'show the cloud-init of a guest without an agent',
    request: ['GET', `${web}/cloud-init`],
    status: 409,
    reply: { message: present },
  },
  {
    name: 'an operator does not see the cloud-init of the guest of another',
    as: 'operator',
    request: ['GET', `${web}/cloud-init`],
    status: 403,
  },
  { name: 'read a file of a guest by a relative path', request: ['GET', `${web}/files?path=motd`], status: 400 },
]

const settings: readonly Case[] = [
  {
    name: 'change the memory of a machine',
    request: set('memory', 'set', '64'),
    status: 200,
    reply: { operations: [{ status: 'Success' }] },
    effects: [
      shows(web, [{ Hardware: { memory: { size: '64Mb' } } }]),
      published('pdfm', 'VM_UPDATED', { vm_id: '{web}' }),
      audited('machines/set'),
    ],
  },
  {
    name: 'what a change would do',
    request: ['PUT', `${web}/set?dry_run=true`, { operations: [{ group: 'memory', operation: 'set', value: '16' }] }],
    status: 200,
    reply: { operations: [{ change: present }] },
    effects: [shows(web, [{ Hardware: { memory: { size: '64Mb' } } }])],
  },
  {
    name: 'change the description of a machine',
    request: set('description', 'set', 'Web server with logs'),
    status: 200,
    effects: [shows(web, [{ Description: 'Web server with logs' }])],
  },
  {
    name: 'rename a machine',
    request: set('machine', 'rename', 'shop'),
    status: 200,
    effects: [shows(`${machines}/shop`, [{ ID: '{web}' }]), gone(web)],
  },
  {
    name: 'rename it back by its id',
    request: [
      'PUT',
      `${machines}/{web}/set`,
      { operations: [{ group: 'machine', operation: 'rename', value: 'web' }] },
    ],
    status: 200,
    effects: [shows(web, [{ ID: '{web}', Name: 'web' }])],
  },
  {
    name: 'label a machine',
    request: set('labels', 'set', 'team=build,ci='),
    status: 200,
    effects: [
      shows(web, [{ labels: { team: 'build', ci: '' } }]),
      shows(`${machines}?labels=team%3Dbuild`, [{ Name: 'web' }]),
    ],
  },
  { name: 'add a label that is none', request: set('labels', 'add', 'team'), status: 400 },
  { name: 'remove a label that the machine has not', request: set('labels', 'remove', 'zone'), status: 400 },
  {
    name: 'give a machine a time to live',
    request: set('ttl', 'set', '3600'),
    status: 200,
    effects: [shows(web, [{ expires_at: present }])],
  },
  { name: 'take the time to live away', request: set('ttl', 'remove', ''), status: 200 },
  { name: 'give it no time to live', request: set('ttl', 'set', '0'), status: 400 },
  {
    name: 'what the autostart and a restart after a crash would change',
    request: [
      'PUT',
      `${web}/set?dry_run=true`,
      {
        operations: [
          { group: 'autostart', operation: 'enabled', value: 'on' },
          { group: 'autostart', operation: 'order', value: '7' },
          { group: 'restart', operation: 'set', value: 'on-crash' },
          { group: 'ephemeral', operation: 'set', value: 'on' },
        ],
      },
    ],
    status: 200,
    reply: {
      operations: [
        { change: { field: 'autostart enabled', from: 'off', to: 'on' }, effect: 'now' },
        { change: { field: 'autostart order', from: 0, to: 7 }, effect: 'now' },
        { change: { field: 'restart', from: 'never', to: 'on-crash' }, effect: 'now' },
        { change: { field: 'ephemeral', from: 'off', to: 'on' }, effect: 'now' },
      ],
    },
  },
  { name: 'a setting that there is not', request: set('screen', 'set', '1'), status: 400 },
  { name: 'a kind of device that there is not', request: set('device', 'add', 'fdd'), status: 400 },
  { name: 'a disk that the machine does not have', request: set('device', 'remove', 'hdd7'), status: 400 },
  {
    name: 'an action beside a setting',
    request: [
      'PUT',
      `${web}/set`,
      {
        operations: [
          { group: 'state', operation: 'start' },
          { group: 'cpu', operation: 'set', value: '1' },
        ],
      },
    ],
    status: 400,
    effects: [isIn('stopped')],
  },
  {
    name: 'no memory at all',
    request: set('memory', 'set', '0'),
    status: 400,
    effects: [shows(web, [{ Hardware: { memory: { size: '64Mb' } } }])],
  },
]

const clones: readonly Case[] = [
  {
    name: 'clone a machine',
    request: ['PUT', `${web}/clone`, { clone_name: 'copy' }],
    status: 200,
    reply: { status: 'Success' },
    saves: { copy: 'id' },
    effects: [
      shows(`${machines}/copy`, [{ ID: '{copy}', State: 'stopped', Description: 'Web server with logs' }]),
      shows(machines, hasLength(2)),
      published('pdfm', 'VM_ADDED', { vm_id: '{copy}' }),
      audited('machines/clone', { details: { clone_name: 'copy' } }),
    ],
  },
  {
    name: 'clone a machine to a name that is taken',
    request: ['PUT', `${web}/clone`, { clone_name: 'Copy' }],
    status: 409,
  },
  {
    name: 'the same Idempotency-Key clones a machine once',
    request: ['PUT', `${web}/clone`, { clone_name: 'once' }, { 'idempotency-key': 'm-1' }],
    status: 200,
    saves: { once: 'id' },
    effects: [
      answers(200, ['PUT', `${web}/clone`, { clone_name: 'once' }, { 'idempotency-key': 'm-1' }], 'root', {
        id: '{once}',
      }),
      shows(machines, hasLength(3)),
    ],
  },
  {
    name: 'delete a machine',
    request: ['DELETE', `${machines}/{once}`],
    status: 202,
    effects: [
      gone(`${machines}/once`),
      omits(machines, { ID: '{once}' }),
      published('pdfm', 'VM_REMOVED', { vm_id: '{once}' }),
      audited('machines/delete'),
    ],
  },
]

const jobs: readonly Case[] = [
  {
    name: 'start a machine as a job',
    request: ['PUT', `${machines}/copy/start`, undefined, { prefer: 'respond-async' }],
    status: 202,
    reply: { state: 'pending', job_type: 'machines', job_operation: 'start', owner_name: 'root' },
    headers: { location: present, 'preference-applied': 'respond-async' },
    saves: { job: 'id' },
    effects: [
      comesToShow('/v1/jobs/{job}', {
        state: 'completed',
        progress: 100,
        result: { status: 'Success' },
        result_record_id: '{copy}',
      }),
      shows(`${machines}/copy/status`, { status: 'running' }),
      lists('/v1/jobs', { id: '{job}' }),
      published('job_manager', 'JOB_COMPLETED', { id: '{job}' }),
    ],
  },
  { name: 'the jobs of others do not exist', as: 'operator', request: ['GET', '/v1/jobs/{job}'], status: 404 },
  {
    name: 'wait for a job',
    request: ['PUT', `${machines}/copy/stop?force=true`, undefined, { prefer: 'respond-async, wait=60' }],
    status: 200,
    reply: { operation: 'Stop' },
    headers: { 'preference-applied': 'wait=60' },
    effects: [shows(`${machines}/copy/status`, { status: 'stopped' })],
  },
  {
    name: 'a job that fails',
    request: ['PUT', `${machines}/nobody/start`, undefined, { prefer: 'respond-async' }],
    status: 202,
    saves: { failed: 'id' },
    effects: [
      comesToShow('/v1/jobs/{failed}', { state: 'failed', code: 404 }),
      published('job_manager', 'JOB_UPDATED', { id: '{failed}', state: 'failed' }),
    ],
  },
  {
    name: 'delete the record of a job',
    request: ['DELETE', '/v1/jobs/{failed}'],
    status: 202,
    effects: [
      gone('/v1/jobs/{failed}'),
      published('job_manager', 'JOB_DELETED', { id: '{failed}' }),
      audited('jobs/delete'),
    ],
  },
  {
    name: 'a machine that does not hear',
    request: ['POST', machines, { ...definition, name: 'deaf', kernel: '{deafKernel}' }],
    status: 201,
    effects: [answers(200, ['PUT', `${machines}/deaf/start`]), shows(`${machines}/deaf/status`, { status: 'running' })],
  },
  {
    name: 'a job that waits for it',
    request: ['PUT', `${machines}/deaf/stop`, undefined, { prefer: 'respond-async' }],
    status: 202,
    saves: { waiting: 'id' },
    effects: [
      comesToShow(`${machines}/deaf/status`, { status: 'stopping' }),
      shows('/v1/jobs/{waiting}', { state: 'running' }),
      answers(409, ['DELETE', '/v1/jobs/{waiting}']),
      answers(409, ['PUT', `${machines}/deaf/pause`]),
    ],
  },
  {
    name: 'cancel a job',
    request: ['POST', '/v1/jobs/{waiting}/cancel'],
    status: 202,
    effects: [
      comesToShow('/v1/jobs/{waiting}', { state: 'failed' }),
      comesToShow(`${machines}/deaf/status`, { status: 'running' }),
      audited('jobs/cancel'),
    ],
  },
  { name: 'cancel a job that has ended', request: ['POST', '/v1/jobs/{waiting}/cancel'], status: 409 },
  {
    name: 'delete a running machine by force',
    request: ['DELETE', `${machines}/deaf?force=true`],
    status: 202,
    effects: [gone(`${machines}/deaf`), published('pdfm', 'VM_REMOVED')],
  },
  {
    name: 'delete the records of all jobs that have ended',
    request: ['DELETE', '/v1/jobs/cleanup'],
    status: 202,
    effects: [shows('/v1/jobs', []), audited('jobs/clean-up')],
  },
  {
    name: 'filter the jobs',
    request: ['GET', '/v1/jobs', undefined, { 'x-filter': 'state=failed' }],
    status: 200,
    reply: [],
  },
]

export const machineArea: Area = {
  name: 'machines and jobs',
  withHost: true,
  needs: ['guests'],
  people: {
    operator: { claims: ['LIST_VM', 'UPDATE_VM_STATES', 'JOB_MANAGER_LIST_OWN'] },
  },
  cases: [
    {
      name: 'there are no machines',
      request: ['GET', machines],
      status: 200,
      reply: [],
      saves: { noMachines: 'header etag' },
    },
    created,
    {
      name: 'the list has changed',
      request: ['GET', machines, undefined, { 'if-none-match': '{noMachines}' }],
      status: 200,
      saves: { list: 'header etag' },
    },
    {
      name: 'the list has not changed',
      request: ['GET', machines, undefined, { 'if-none-match': '{list}' }],
      status: 304,
    },
    {
      name: 'show a machine by name in any case',
      request: ['GET', `${machines}/WEB`],
      status: 200,
      reply: [{ ID: '{web}' }],
    },
    {
      name: 'filter the machines',
      request: ['GET', machines, undefined, { 'x-filter': 'Name=^web$' }],
      status: 200,
      reply: has({ ID: '{web}' }),
    },
    {
      name: 'create a machine with a name that is taken',
      request: ['POST', machines, { ...definition, name: 'Web' }],
      status: 409,
    },
    {
      name: 'create a machine with a misspelled member',
      request: ['POST', machines, { ...definition, name: 'x', cpu: 2 }],
      status: 400,
    },
    {
      name: 'create a machine of an image that there is not',
      request: ['POST', machines, { ...definition, name: 'x', disks: [{ path: '/nowhere/x' }] }],
      status: 403,
    },
    {
      name: 'create a machine with a key that is none',
      request: ['POST', machines, { ...definition, name: 'x', ssh_keys: ['ssh-ed25519 AAAA'] }],
      status: 400,
    },
    {
      name: 'create a machine of the type pc with the firmware of newer ones',
      request: ['POST', machines, { ...definition, name: 'x', machine_type: 'pc', firmware: 'uefi' }],
      status: 400,
    },
    ...cloudInit,
    ...settings,
    ...clones,
    refused('pause', 'stopped'),
    refused('resume', 'stopped'),
    already('stop', 'stopped'),
    verb('start', 'running', 'starting'),
    already('start', 'running'),
    ...inGuest,
    {
      name: 'pause a machine by a setting',
      request: set('state', 'pause', ''),
      status: 200,
      reply: { operations: [{ group: 'state', operation: 'pause', status: 'Success', error: '' }] },
      effects: [isIn('paused'), became('pausing', 'paused'), audited('machines/set')],
    },
    verb('resume', 'running', 'resuming'),
    {
      name: 'label a machine that runs',
      request: set('labels', 'remove', 'ci'),
      status: 200,
      effects: [shows(web, [{ labels: { team: 'build' } }]), isIn('running')],
    },
    { name: 'change the memory of a running machine', request: set('memory', 'set', '32'), status: 409 },
    { name: 'delete a running machine', request: ['DELETE', web], status: 409, effects: [isIn('running')] },
    verb('pause', 'paused', 'pausing'),
    refused('stop', 'paused'),
    verb('resume', 'running', 'resuming'),
    verb('suspend', 'suspended', 'suspending'),
    refused('reset', 'suspended'),
    verb('start', 'running', 'resuming'),
    verb('reset', 'running', 'resetting'),
    verb('restart', 'running', 'restarting'),
    verb('stop', 'stopped', 'stopping'),
    verb('start', 'running', 'starting', { method: 'GET' }),
    verb('pause', 'paused', 'pausing', { method: 'GET' }),
    verb('resume', 'running', 'resuming', { method: 'GET' }),
    verb('suspend', 'suspended', 'suspending', { method: 'GET' }),
    verb('resume', 'running', 'resuming'),
    verb('reset', 'running', 'resetting', { method: 'GET' }),
    verb('restart', 'running', 'restarting', { method: 'GET' }),
    verb('stop', 'stopped', 'stopping', { method: 'GET', query: '?force=true' }),
    already('stop', 'stopped'),
    verb('start', 'running', 'starting'),
    {
      name: 'an operator stops a machine by force',
      as: 'operator',
      request: ['PUT', `${web}/stop?force=true`],
      status: 200,
      effects: [isIn('stopped'), audited('machines/stop', { username: 'operator' })],
    },
    {
      name: 'an operator does not delete it',
      as: 'operator',
      request: ['DELETE', web],
      status: 403,
      effects: [isIn('stopped')],
    },
    ...jobs,
  ],
}
