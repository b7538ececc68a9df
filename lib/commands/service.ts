import { type CommandGroup, filter, type Input } from './definition.ts'

/** `vmhost health` */
export const health: CommandGroup = {
  name: 'health',
  commands: [
    {
      name: 'show',
      operation: 'health.system',
      summary: 'Show the health of the service and its parts; the exit code is 1 if something does not work',
      succeedsIf: ['healthy', true],
    },
    { name: 'probe', operation: 'health.probe', summary: 'Ask whether the service takes requests' },
  ],
}

/** `vmhost metrics` */
export const metrics: CommandGroup = {
  name: 'metrics',
  commands: [{ name: '', operation: 'metrics.show', summary: 'Print the metrics, as Prometheus reads them' }],
}

/** `vmhost license` */
export const license: CommandGroup = {
  name: 'license',
  commands: [{ name: '', operation: 'license.show', summary: 'Show the license of the hypervisor' }],
}

/** `vmhost openapi` */
export const openapi: CommandGroup = {
  name: 'openapi',
  commands: [
    { name: '', operation: 'openapi.show', summary: 'Write the OpenAPI description of the service', isFile: true },
  ],
}

/** `vmhost ssh-execute` */
export const sshExecute: CommandGroup = {
  name: 'ssh-execute',
  commands: [
    {
      name: '',
      operation: 'ssh.execute',
      summary: 'Have the service run a command on another host by SSH',
      inputs: [
        { flag: '<address>', to: 'body.host', about: 'host name or IP address' },
        { flag: '<command>', to: 'body.command', about: 'line for the shell of the user' },
        { flag: '--user <name>', to: 'body.username', required: true, about: 'user on the other host' },
        { flag: '--port <port>', to: 'body.port', kind: 'number', about: 'TCP port; default: 22' },
        { flag: '--password', to: 'body.password', kind: 'secret', about: 'a prompt or standard input gives it' },
        { flag: '--key <file>', to: 'body.key', kind: 'text-file', about: 'private key' },
        { flag: '--passphrase', to: 'body.passphrase', kind: 'secret', about: 'a prompt or standard input gives it' },
        { flag: '--fingerprint <text>', to: 'body.fingerprint', about: 'of the key that the host must have' },
        { flag: '--insecure', to: 'body.enable_insecure_key', about: 'do not check the key of the host' },
      ],
      prints: 'output',
      succeedsIf: ['error', ''],
    },
  ],
}

const config: Input = { flag: '<config>', to: 'params.id', about: 'short name or id' }
const details: readonly Input[] = [
  { flag: '--type <type>', to: 'body.type', about: 'string, bool, int or json' },
  { flag: '--value <value>', to: 'body.value', kind: 'value', about: 'JSON, or else a text' },
]

/** `vmhost user-configs …` */
export const userConfigs: CommandGroup = {
  name: 'user-configs',
  commands: [
    {
      name: 'list',
      alias: 'ls',
      operation: 'userConfigs.list',
      summary: 'List your settings',
      inputs: [filter],
      columns: [
        ['SLUG', 'slug'],
        ['NAME', 'name'],
        ['TYPE', 'type'],
        ['VALUE', 'value'],
      ],
      empty: 'There are no settings.',
    },
    { name: 'show', operation: 'userConfigs.show', summary: 'Show a setting', inputs: [config] },
    {
      name: 'create',
      operation: 'userConfigs.create',
      summary: 'Create a setting',
      inputs: [
        { flag: '<name>', to: 'body.name', about: 'name that people read' },
        { flag: '--slug <slug>', to: 'body.slug', about: 'short name; generated when left out' },
        ...details,
      ],
      says: 'Created {slug}.',
    },
    {
      name: 'update',
      operation: 'userConfigs.update',
      summary: 'Change a setting',
      inputs: [config, { flag: '--name <name>', to: 'body.name', about: 'name that people read' }, ...details],
      says: 'Changed {config}.',
    },
    {
      name: 'delete',
      alias: 'rm',
      operation: 'userConfigs.delete',
      summary: 'Delete a setting',
      inputs: [config],
      says: 'Deleted {config}.',
    },
  ],
}
