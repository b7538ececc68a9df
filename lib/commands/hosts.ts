import { type CommandGroup, filter, fromFile, type Input } from './definition.ts'

const host: Input = { flag: '<host>', to: 'params.id', about: 'name or id of the host' }
const label: Input = {
  flag: '--label <name=value>',
  to: 'body.labels',
  kind: 'pairs',
  about: 'label; repeat it for several',
}

/** `vmhost hosts …` */
export const hosts: CommandGroup = {
  name: 'hosts',
  commands: [
    {
      name: 'list',
      alias: 'ls',
      operation: 'hosts.list',
      summary: 'List the hosts of a control',
      inputs: [filter],
      columns: [
        ['NAME', 'name'],
        ['STATE', 'state'],
        ['DRAINED', 'drained'],
        ['MACHINES', 'machines', 'count'],
        ['CPUS', 'capacity.cpus', 'count'],
        ['MEMORY', 'capacity.memory', 'megabytes'],
        ['FREE', 'capacity.free_memory', 'megabytes'],
        ['URL', 'url'],
        ['LABELS', 'labels', 'pairs'],
      ],
      empty: 'There are no hosts.',
    },
    { name: 'show', operation: 'hosts.show', summary: 'Show a host', inputs: [host] },
    {
      name: 'create',
      operation: 'hosts.create',
      summary: 'Register a host; the reply has the secret with which it signs in, once',
      inputs: [
        { flag: '<name>', to: 'body.name', about: 'name of the host' },
        { flag: '<url>', to: 'body.url', about: 'address under which the service reaches the host' },
        label,
      ],
    },
    {
      name: 'update',
      operation: 'hosts.update',
      summary: 'Change the address or the labels of a host',
      inputs: [host, { flag: '--url <url>', to: 'body.url', about: 'address of the host' }, label],
      says: 'Changed {host}.',
    },
    {
      name: 'drain',
      operation: 'hosts.drain',
      summary: 'Give a host no new machines',
      inputs: [host],
      says: '{host} gets no new machines.',
    },
    {
      name: 'undrain',
      operation: 'hosts.undrain',
      summary: 'Give a drained host new machines again',
      inputs: [host],
      says: '{host} gets new machines again.',
    },
    {
      name: 'delete',
      alias: 'rm',
      operation: 'hosts.delete',
      summary: 'Remove a host from the control; its machines stay on it',
      inputs: [host],
      says: 'Removed {host}.',
    },
    {
      name: 'heartbeat',
      operation: 'hosts.heartbeat',
      summary: 'Send a heartbeat in place of a host; hosts do it by themselves',
      inputs: [host, { ...fromFile, required: true }],
    },
    {
      name: 'pack',
      operation: 'hosts.pack',
      summary: 'Fetch a pack that a host pulls through the control; hosts do it by themselves',
      inputs: [
        host,
        { flag: '<job>', to: 'params.job', about: 'job under which the host pulls' },
        { flag: '--content <what>', to: 'query.content', required: true, about: 'pack, pieces or chunk' },
        { flag: '--sha256 <digest>', to: 'query.sha256', about: 'with --content chunk: the chunk' },
      ],
      isFile: true,
    },
  ],
}
