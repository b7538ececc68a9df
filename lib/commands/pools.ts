import { type CommandGroup, filter, fromFile, type Input } from './definition.ts'

const pool: Input = { flag: '<pool>', to: 'params.name', about: 'name of the pool' }
const definition: readonly Input[] = [
  { flag: '--image <image>', to: 'body.from.image', about: 'registered image that the machines are made of' },
  { flag: '--machine <machine>', to: 'body.from.machine', about: 'machine whose copies they are' },
  { flag: '--snapshot <snapshot>', to: 'body.from.snapshot', about: 'snapshot of that machine whose copies they are' },
  { flag: '--memory <MB>', to: 'body.template.memory', kind: 'number', about: 'memory of a machine in MB' },
  { flag: '--cpus <number>', to: 'body.template.cpus', kind: 'number', about: 'virtual CPUs of a machine' },
  { flag: '--min <number>', to: 'body.min', kind: 'number', about: 'machines that are kept ready' },
  { flag: '--max <number>', to: 'body.max', kind: 'number', about: 'the most machines, with the claimed ones' },
  { flag: '--until <condition>', to: 'body.until', about: 'when a machine is ready: running, ip, agent, port:NUMBER' },
  {
    flag: '--idle-ttl <seconds>',
    to: 'body.idle_ttl',
    kind: 'number',
    about: 'replace a ready machine after this time',
  },
  fromFile,
]

/** `vmhost pools …` */
export const pools: CommandGroup = {
  name: 'pools',
  commands: [
    {
      name: 'list',
      alias: 'ls',
      operation: 'pools.list',
      summary: 'List the pools',
      inputs: [filter],
      columns: [
        ['NAME', 'name'],
        ['FROM', 'from', 'pairs'],
        ['MIN', 'min', 'count'],
        ['MAX', 'max', 'count'],
        ['MEMBERS', 'members.length', 'count'],
        ['WAITING', 'waiting', 'count'],
        ['PROBLEM', 'problem'],
      ],
      empty: 'There are no pools.',
    },
    { name: 'show', operation: 'pools.show', summary: 'Show a pool with its machines', inputs: [pool] },
    {
      name: 'create',
      operation: 'pools.create',
      summary: 'Define a pool, which keeps machines ready for claims',
      inputs: [{ flag: '<pool>', to: 'body.name', about: 'name of the new pool' }, ...definition],
      says: 'Defined {name}; `vmhost pools show {name}` shows its machines.',
    },
    {
      name: 'update',
      operation: 'pools.update',
      summary: 'Replace the definition of a pool',
      inputs: [pool, ...definition],
      says: 'Changed {name}.',
    },
    {
      name: 'delete',
      alias: 'rm',
      operation: 'pools.delete',
      summary: 'Delete a pool; claimed machines stay',
      inputs: [
        pool,
        { flag: '--members <what>', to: 'query.members', about: 'what becomes of ready machines: delete or keep' },
      ],
      says: 'Deleted {pool}.',
    },
    {
      name: 'claim',
      operation: 'pools.claim',
      summary: 'Get a running machine of a pool',
      inputs: [
        pool,
        { flag: '--timeout <seconds>', to: 'query.timeout', kind: 'number', about: 'how long to wait, at most 300' },
        { flag: '--ttl <seconds>', to: 'body.ttl', kind: 'number', about: 'delete the machine after this time' },
        { flag: '--label <name=value>', to: 'body.labels', kind: 'pairs', about: 'label; repeat it for several' },
      ],
    },
  ],
}
