import type { Api } from '#lib/client/api.gen.ts'
import { type CommandDefinition, fromFile, type Input, type OperationName } from './definition.ts'

/** The operations that this service and other ones have for manifests. */
type ManifestOperation = Exclude<keyof Api['catalog'], 'garbage'>

/** The arguments of one manifest. */
export const manifestInputs: readonly Input[] = [
  { flag: '<catalog-id>', to: 'params.catalogId', about: 'name of the machine in the catalog' },
  { flag: '<version>', to: 'params.version', about: 'version, not a tag' },
  { flag: '<architecture>', to: 'params.architecture', about: 'x86_64 or arm64' },
]

/** The options of a manifest that is made from what a provider has. */
export const importInputs: readonly Input[] = [
  { flag: '<catalog-id>', to: 'body.catalog_id', about: 'name of the machine in the catalog' },
  { flag: '--version <version>', to: 'body.version', required: true, about: 'version, such as 1.0.2-beta' },
  { flag: '--architecture <name>', to: 'body.architecture', required: true, about: 'x86_64 or arm64' },
]

export const connection: Input = {
  flag: '--connection <connection>',
  to: 'body.connection',
  kind: 'connection',
  required: true,
  about: 'provider=…;key=value;…; - reads it from standard input; default: VMHOST_CONNECTION',
}

const lists = [
  ['tags', 'tags', 'addTags', 'removeTags'],
  ['claims', 'required_claims', 'addClaims', 'removeClaims'],
  ['roles', 'required_roles', 'addRoles', 'removeRoles'],
] as const

/** Summaries of the words that have commands of their own. */
export const manifestSections = {
  tags: 'Tags of a manifest',
  claims: 'Claims of which a user needs one to see a manifest',
  roles: 'Roles of which a user needs one to see a manifest',
}

/**
 * The commands that change and read single manifests.
 * @param getOperation the operation of the catalog that has the manifests
 * @param first the arguments before those of the manifest
 */
export const createManifestCommands = (
  getOperation: (operation: ManifestOperation) => OperationName,
  first: readonly Input[] = [],
): readonly CommandDefinition[] => [
  {
    name: 'register',
    operation: getOperation('register'),
    summary: 'Register a manifest whose objects are on a provider already',
    inputs: [...first, { ...fromFile, required: true }],
  },
  {
    name: 'import-vm',
    operation: getOperation('importVm'),
    summary: 'Import a machine without a description from a provider',
    inputs: [
      ...first,
      ...importInputs,
      connection,
      {
        flag: '--remote-path <path>',
        to: 'body.machine_remote_path',
        required: true,
        about: 'path of the machine on the provider',
      },
      { flag: '--size <bytes>', to: 'body.size', kind: 'number', required: true, about: 'size of the machine' },
      { flag: '--type <type>', to: 'body.type', about: 'pvm, macvm, qemu or embedded' },
      { flag: '--compressed', to: 'body.is_compressed', about: 'the pack is compressed' },
      { flag: '--force', to: 'body.force', about: 'replace an existing manifest' },
    ],
  },
  {
    name: 'describe',
    operation: getOperation('describe'),
    summary: 'Change the description of a manifest, and replace its tags, claims and roles',
    inputs: [
      ...first,
      ...manifestInputs,
      { flag: '--description <text>', to: 'body.description', about: 'text for people' },
      { flag: '--tag <tag>', to: 'body.tags', kind: 'list', about: 'tag; repeatable' },
      { flag: '--claim <claim>', to: 'body.required_claims', kind: 'list', about: 'required claim; repeatable' },
      { flag: '--role <role>', to: 'body.required_roles', kind: 'list', about: 'required role; repeatable' },
    ],
    says: 'Changed {catalog-id} {version} {architecture}.',
  },
  {
    name: 'connect',
    operation: getOperation('connect'),
    summary: 'Change the connection to the provider of a manifest',
    inputs: [...first, ...manifestInputs, connection],
    says: 'Changed the connection of {catalog-id} {version} {architecture}.',
  },
  {
    name: 'download',
    operation: getOperation('download'),
    summary: 'Download the objects of a manifest',
    inputs: [
      ...first,
      ...manifestInputs,
      { flag: '--content <what>', to: 'query.content', required: true, about: 'pack, metadata, pieces or chunk' },
      { flag: '--sha256 <digest>', to: 'query.sha256', about: 'with --content chunk: the chunk' },
    ],
    isFile: true,
  },
  ...lists.flatMap(([word, member, add, remove]): readonly CommandDefinition[] => {
    const values: Input = { flag: `<${word}...>`, to: `body.${member}`, kind: 'list', about: `${word} of the manifest` }
    return [
      {
        name: `${word} add`,
        operation: getOperation(add),
        summary: `Add ${word} to a manifest`,
        inputs: [...first, ...manifestInputs, values],
        says: `Added ${word} to {catalog-id} {version} {architecture}.`,
      },
      {
        name: `${word} remove`,
        operation: getOperation(remove),
        summary: `Remove ${word} from a manifest`,
        inputs: [...first, ...manifestInputs, values],
        says: `Removed ${word} from {catalog-id} {version} {architecture}.`,
      },
    ]
  }),
]

/** The arguments of one manifest, of which the last may be left out. */
export const partOfReference: readonly Input[] = manifestInputs.map(input => ({
  ...input,
  flag: input.flag === '<catalog-id>' ? input.flag : input.flag.replace('<', '[').replace('>', ']'),
}))
