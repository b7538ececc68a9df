import type { Command } from 'commander'
import type { CommandGroup } from '#lib/commands/definition.ts'
import { createGroupCommand } from '../definitions/create-commands.ts'
import type { CommandContext } from './context.ts'

/** A command of the first level. Its code is loaded when it is called. */
export interface TableRow {
  readonly name: string
  readonly alias?: string
  readonly summary: string
  /** It calls no service. Any error ends it with the exit code 1. */
  readonly isLocal?: true
  /** Loads what creates the command with its options and subcommands, without its summary. */
  readonly load: () => Promise<(context: CommandContext) => Command>
}

/** Creates the command of a group whose commands are data. */
const fromGroup =
  (group: CommandGroup) =>
  (context: CommandContext): Command =>
    createGroupCommand(group, context)

/** The commands of the first level, in the order of the help. A command that is written by hand needs a row here. */
export const commandTable: readonly TableRow[] = [
  {
    name: 'serve',
    summary: 'Run the service',
    isLocal: true,
    load: async () => (await import('./serve.ts')).createServeCommand,
  },
  {
    name: 'routes',
    summary: 'Show the endpoints that are served, and who may call them',
    isLocal: true,
    load: async () => (await import('./routes.ts')).createRoutesCommand,
  },
  {
    name: 'keygen',
    summary: 'Make an RSA key that signs tokens',
    isLocal: true,
    load: async () => (await import('./keygen.ts')).createKeygenCommand,
  },
  {
    name: 'machines',
    alias: 'machine',
    summary: 'Machines: create, start, stop, change and delete them',
    load: async () => fromGroup((await import('../../commands/machines.ts')).machines),
  },
  {
    name: 'exec',
    summary: 'Run a command in the guest of a running machine',
    load: async () => (await import('./exec.ts')).createExecCommand,
  },
  {
    name: 'cp',
    summary: 'Copy a file to a running machine or from it, by its guest agent',
    load: async () => (await import('./copy.ts')).createCopyCommand,
  },
  {
    name: 'images',
    alias: 'image',
    summary: 'Images: disks and ISO files that machines are made of',
    load: async () => fromGroup((await import('../../commands/images.ts')).images),
  },
  {
    name: 'pools',
    alias: 'pool',
    summary: 'Pools: machines that run and wait for a claim',
    load: async () => fromGroup((await import('../../commands/pools.ts')).pools),
  },
  {
    name: 'hosts',
    alias: 'host',
    summary: 'Hosts of a control, which forwards to them',
    load: async () => fromGroup((await import('../../commands/hosts.ts')).hosts),
  },
  {
    name: 'storage',
    summary: 'The store: its backups and its encryption',
    isLocal: true,
    load: async () => (await import('./storage.ts')).createStorageCommand,
  },
  {
    name: 'service',
    summary: 'The service as a unit of systemd or launchd: install, uninstall, status',
    isLocal: true,
    load: async () => (await import('./service.ts')).createServiceCommand,
  },
  {
    name: 'doctor',
    summary: 'Check this host and its service: what is wrong, and the command that mends it',
    isLocal: true,
    load: async () => (await import('./doctor.ts')).createDoctorCommand,
  },
  {
    name: 'report',
    summary: 'Write an archive about this host and its service, without secrets, for whoever helps with a problem',
    isLocal: true,
    load: async () => (await import('./report.ts')).createReportCommand,
  },
  {
    name: 'users',
    summary: 'Users: the people who can sign in',
    load: async () => (await import('./users.ts')).createUsersCommand,
  },
  {
    name: 'roles',
    summary: 'Roles: named sets of claims',
    load: async () => (await import('./roles.ts')).createRolesCommand,
  },
  {
    name: 'claims',
    summary: 'Claims: single rights of users and roles',
    load: async () => (await import('./claims.ts')).createClaimsCommand,
  },
  {
    name: 'keys',
    summary: 'The keys that sign tokens',
    load: async () => (await import('./keys.ts')).createKeysCommand,
  },
  {
    name: 'api-keys',
    summary: 'API keys: credentials of programs',
    load: async () => fromGroup((await import('../../commands/identity.ts')).apiKeys),
  },
  {
    name: 'password',
    summary: 'Change your own password',
    load: async () => fromGroup((await import('../../commands/identity.ts')).password),
  },
  {
    name: 'user-configs',
    summary: 'Your settings, which the service keeps for programs',
    load: async () => fromGroup((await import('../../commands/service.ts')).userConfigs),
  },
  {
    name: 'link',
    summary: 'Make a link with which you set the password of root in a browser',
    load: async () => (await import('./link.ts')).createLinkCommand,
  },
  {
    name: 'audit',
    summary: 'The audit: a log of all actions and refusals',
    load: async () => (await import('./audit.ts')).createAuditCommand,
  },
  {
    name: 'catalog',
    summary: 'The catalog: packed machines and their versions',
    load: async () => (await import('./catalog.ts')).createCatalogCommand,
  },
  {
    name: 'managers',
    alias: 'manager',
    summary: 'Catalog managers: the catalogs of other services',
    load: async () => fromGroup((await import('../../commands/managers.ts')).managers),
  },
  {
    name: 'jobs',
    alias: 'job',
    summary: 'Jobs: long work of the service, such as pushes, pulls and clones',
    load: async () => (await import('./jobs.ts')).createJobsCommand,
  },
  {
    name: 'console',
    summary: 'Connect this terminal to the serial console of a machine; Ctrl-] leaves',
    load: async () => (await import('./console.ts')).createConsoleCommand,
  },
  {
    name: 'tunnel',
    summary: 'Connect standard input and output to a TCP port of a running machine',
    load: async () => (await import('./tunnel.ts')).createTunnelCommand,
  },
  {
    name: 'events',
    alias: 'event',
    summary: 'Events: what has changed, as it happens',
    load: async () => (await import('./events.ts')).createEventsCommand,
  },
  {
    name: 'health',
    summary: 'The health of the service and its parts',
    load: async () => fromGroup((await import('../../commands/service.ts')).health),
  },
  {
    name: 'metrics',
    summary: 'The metrics of the service, as Prometheus reads them',
    load: async () => fromGroup((await import('../../commands/service.ts')).metrics),
  },
  {
    name: 'license',
    summary: 'The license of the hypervisor',
    load: async () => fromGroup((await import('../../commands/service.ts')).license),
  },
  {
    name: 'ssh-execute',
    summary: 'Have the service run a command on another host by SSH',
    load: async () => fromGroup((await import('../../commands/service.ts')).sshExecute),
  },
  {
    name: 'openapi',
    summary: 'The OpenAPI description of the service',
    load: async () => fromGroup((await import('../../commands/service.ts')).openapi),
  },
  {
    name: 'login',
    summary: 'Sign in to the service of another host',
    load: async () => (await import('./login.ts')).createLoginCommand,
  },
  {
    name: 'logout',
    summary: 'Sign out of the service of another host',
    load: async () => (await import('./logout.ts')).createLogoutCommand,
  },
  {
    name: 'context',
    summary: 'Contexts: the services that you have signed in to',
    load: async () => (await import('./contexts.ts')).createContextsCommand,
  },
  {
    name: 'api',
    summary: 'Call any endpoint',
    load: async () => (await import('./api.ts')).createApiCommand,
  },
  {
    name: 'completion',
    summary: 'Write what completes the commands and options of vmhost in a shell',
    isLocal: true,
    load: async () => (await import('./completion.ts')).createCompletionCommand,
  },
]
