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
  { name: 'a setting that there is not', request: set('screen', 'set', '1'), status: 400 },
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
    ...settings,
    ...clones,
    refused('pause', 'stopped'),
    refused('resume', 'stopped'),
    already('stop', 'stopped'),
    verb('start', 'running', 'starting'),
    already('start', 'running'),
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
