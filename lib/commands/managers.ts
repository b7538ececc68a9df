import type { Api } from '#lib/client/api.gen.ts'
import { type Column, type CommandDefinition, type CommandGroup, filter, fromFile, type Input } from './definition.ts'
import {
  connection,
  createManifestCommands,
  importInputs,
  manifestInputs,
  manifestSections,
  partOfReference,
} from './manifests.ts'

const manager: Input = { flag: '<manager>', to: 'params.id', about: 'id of the catalog manager' }
const optional: readonly Input[] = [
  { flag: '--user <name>', to: 'body.username', about: 'user name at the other service' },
  { flag: '--password', to: 'body.password', kind: 'secret', about: 'a prompt or standard input gives the password' },
  { flag: '--api-key', to: 'body.api_key', kind: 'secret', about: 'a prompt or standard input gives the API key' },
  { flag: '--authentication <method>', to: 'body.authentication_method', about: 'credentials or api_key' },
  { flag: '--global', to: 'body.global', about: 'for everybody who holds the required claims' },
  { flag: '--claim <claim>', to: 'body.required_claims', kind: 'list', about: 'required claim; repeatable' },
  { flag: '--inactive', to: 'body.active', kind: 'no', about: 'the service does not use it' },
]

const manifestColumns: readonly Column[] = [
  ['CATALOG ID', 'catalog_id'],
  ['VERSION', 'version'],
  ['ARCHITECTURE', 'architecture'],
  ['TAGS', 'tags'],
  ['SIZE', 'size', 'bytes'],
  ['TAINTED', 'tainted'],
  ['REVOKED', 'revoked'],
]

const changeFlag = (name: 'taint' | 'untaint' | 'revoke', summary: string, done: string): CommandDefinition => ({
  name,
  operation: `catalogManagers.catalog${({ taint: 'Taint', untaint: 'Untaint', revoke: 'Revoke' } as const)[name]}`,
  summary,
  inputs: [manager, ...manifestInputs],
  says: `{catalog-id} {version} {architecture} ${done}.`,
})

const capitalize = <Name extends string>(name: Name): Capitalize<Name> =>
  // The first letter alone changes.
  `${name.charAt(0).toUpperCase()}${name.slice(1)}` as Capitalize<Name>

const transfer: readonly Input[] = [
  { flag: '<catalog-id>', to: 'body.catalog_id', about: 'name of the machine in the catalog' },
  { flag: '--version <version>', to: 'body.version', about: 'version' },
  { flag: '--architecture <name>', to: 'body.architecture', about: 'x86_64 or arm64; default: that of the host' },
]

/** Commands on the catalog of another service. */
const remoteCommands: readonly CommandDefinition[] = [
  {
    name: 'list',
    alias: 'ls',
    operation: 'catalogManagers.catalogList',
    summary: 'List the manifests of the other service',
    inputs: [manager],
    columns: manifestColumns,
    empty: 'The catalog is empty.',
  },
  {
    name: 'show',
    operation: 'catalogManagers.catalogShow',
    summary: 'Show the manifests of a catalog id, or of one version or architecture',
    inputs: [manager, ...partOfReference],
    columns: manifestColumns,
  },
  {
    name: 'push',
    operation: 'catalogManagers.catalogPush',
    summary: 'Push a machine of this host into the catalog of the other service',
    inputs: [
      manager,
      ...transfer,
      connection,
      { flag: '--machine <machine>', to: 'body.uuid', required: true, about: 'name or id of the machine' },
      fromFile,
    ],
    asJob: true,
  },
  {
    name: 'pull',
    operation: 'catalogManagers.catalogPull',
    summary: 'Pull a machine of the other service to this host',
    inputs: [
      manager,
      ...transfer,
      { flag: '--name <name>', to: 'body.machine_name', required: true, about: 'name of the machine on this host' },
      { flag: '--start', to: 'body.start_after_pull', about: 'start the machine' },
      fromFile,
    ],
    asJob: true,
    says: 'Pulled {catalog-id} to {name}.',
  },
  {
    name: 'import',
    operation: 'catalogManagers.catalogImport',
    summary: 'Have the other service import a pack from a provider that has its description',
    inputs: [manager, ...importInputs, connection],
  },
  changeFlag('taint', 'Taint a manifest: nobody can pull it until it is untainted', 'is tainted'),
  changeFlag('untaint', 'Untaint a manifest: it can be pulled again', 'is not tainted any more'),
  changeFlag('revoke', 'Revoke a manifest for good', 'is revoked'),
  {
    name: 'delete',
    alias: 'rm',
    operation: 'catalogManagers.catalogDelete',
    summary: 'Delete a catalog id, a version or an architecture, with its objects on the provider',
    inputs: [
      manager,
      ...partOfReference,
      { flag: '--no-clean-remote', to: 'query.clean_remote', kind: 'no', about: 'keep the objects on the provider' },
    ],
  },
  ...createManifestCommands(
    (operation: keyof Omit<Api['catalog'], 'garbage'>) => `catalogManagers.catalog${capitalize(operation)}`,
    [manager],
  ),
]

/** `vmhost managers …` */
export const managers: CommandGroup = {
  name: 'managers',
  sections: { ...manifestSections, catalog: 'The catalog of the other service' },
  commands: [
    {
      name: 'list',
      alias: 'ls',
      operation: 'catalogManagers.list',
      summary: 'List the catalog managers',
      inputs: [filter],
      columns: [
        ['NAME', 'name'],
        ['ID', 'id'],
        ['URL', 'url'],
        ['ACTIVE', 'active'],
        ['GLOBAL', 'global'],
        ['CLAIMS', 'required_claims'],
      ],
      empty: 'There are no catalog managers.',
    },
    { name: 'show', operation: 'catalogManagers.show', summary: 'Show a catalog manager', inputs: [manager] },
    {
      name: 'create',
      operation: 'catalogManagers.create',
      summary: 'Register the catalog of another service',
      inputs: [
        { flag: '<name>', to: 'body.name', about: 'name that people read' },
        { flag: '<url>', to: 'body.url', about: 'address of the other service' },
        ...optional,
      ],
      says: 'Created {name} ({id}).',
    },
    {
      name: 'update',
      operation: 'catalogManagers.update',
      summary: 'Change a catalog manager',
      inputs: [
        manager,
        { flag: '--name <name>', to: 'body.name', about: 'name that people read' },
        { flag: '--url <url>', to: 'body.url', about: 'address of the other service' },
        ...optional,
      ],
      says: 'Changed {manager}.',
    },
    {
      name: 'delete',
      alias: 'rm',
      operation: 'catalogManagers.delete',
      summary: 'Delete a catalog manager; the other service keeps its catalog',
      inputs: [manager],
      says: 'Deleted {manager}.',
    },
    ...remoteCommands.map(command => ({ ...command, name: `catalog ${command.name}` })),
  ],
}
