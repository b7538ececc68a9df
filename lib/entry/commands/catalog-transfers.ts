import type { Command } from 'commander'
import type { CatalogManifest } from '#lib/catalog/manifest-schema.ts'
import { pullJob, pushJob } from '#lib/transfers/contracts.ts'
import { ImportManifest, PullManifest, type PullResult, PushManifest } from '#lib/transfers/schemas.ts'
import type { PushStep } from '#lib/transfers/steps.ts'
import { type ImportResult } from '#lib/catalog/schemas.ts'
import { ServiceError } from '#lib/errors.ts'
import { formatByteSize } from '#lib/byte-size.ts'
import { connectionHelp, readConnection } from '../admin/read-connection.ts'
import { formatJson, escapeControls } from '../admin/text-table.ts'
import { formatManifestName } from './catalog-text.ts'
import { readRequest } from './read-request.ts'
import { type Invocation, collectValues, requireService, type RegisterCommand } from './invocation.ts'
import { runTransfer } from './transfer.ts'

export const requireTransfers = (invocation: Invocation): void =>
  requireService(invocation, 'Transfers need a running service')

interface PushOptions {
  readonly machine?: string
  readonly localPath?: string
  readonly connection?: string
  readonly version: string
  readonly architecture?: string
  readonly description?: string
  readonly tag: readonly string[]
  readonly requiredClaim: readonly string[]
  readonly requiredRole: readonly string[]
  readonly compress?: true
  readonly level?: string
  readonly format?: string
  readonly chunked?: true
  readonly json?: true
  readonly suspend?: true
  readonly overrideExisting: boolean
}

const toPushBody = (catalogId: string, connection: string, options: PushOptions): object => ({
  catalog_id: catalogId,
  version: options.version,
  architecture: options.architecture,
  connection,
  uuid: options.machine,
  local_path: options.localPath,
  description: options.description,
  tags: options.tag,
  required_claims: options.requiredClaim,
  required_roles: options.requiredRole,
  compress_pack: options.compress ?? (options.level !== undefined || options.format !== undefined),
  compress_pack_level:
    options.level !== undefined && /^-?\d+$/.test(options.level) ? Number(options.level) : options.level,
  compress_format: options.format,
  chunked: options.chunked,
  suspend: options.suspend,
  override_existing: options.overrideExisting,
})

const addPushOptions = (command: Command): Command =>
  command
    .description(
      'Pack a machine of this host, upload the pack and register it. Ctrl-C leaves the job to the service; the same command follows it again',
    )
    .argument('<catalog-id>', 'name of the machine in the catalog')
    .requiredOption('--version <version>', 'version, such as 1.0.2-beta')
    .option('--machine <machine>', 'id or name of a stopped machine (or see --suspend)')
    .option('--local-path <folder>', 'folder of a machine, or of a pvm or macvm bundle; use it instead of --machine')
    .option('--connection <connection>', `provider that stores the pack, ${connectionHelp}`)
    .option('--architecture <name>', 'x86_64 or arm64; default: the architecture of this host')
    .option('--description <text>', 'description of the machine')
    .option('--tag <tag>', 'tag; repeat the option for several', collectValues, [])
    .option(
      '--required-claim <claim>',
      'claim that permits to see and pull it; repeat the option for several',
      collectValues,
      [],
    )
    .option(
      '--required-role <role>',
      'role that permits to see and pull it; repeat the option for several',
      collectValues,
      [],
    )
    .option('--compress', 'compress the pack')
    .option('--level <level>', 'compression level 0–9, or best_speed, balanced, best_compression (implies --compress)')
    .option('--format <format>', 'gzip or zstd (implies --compress); other services may not read zstd')
    .option('--chunked', 'store the machine as chunks that machines and versions share; only vmhost can read them')
    .option(
      '--suspend',
      'suspend a running machine while its files are read, then resume it; without this option the push refuses a running machine',
    )
    .option('--no-override-existing', 'do not replace an existing manifest')

const addPullOptions = (command: Command): Command =>
  command
    .description(
      'Make a machine from a pack of a catalog. Ctrl-C leaves the job to the service; the same command follows it again',
    )
    .argument('<catalog-id>', 'name of the machine in the catalog')
    .requiredOption('--name <machine>', 'name of the new machine')
    .option('--version <version>', 'version or tag', 'latest')
    .option('--architecture <name>', 'x86_64 or arm64; default: the architecture of this host')
    .option('--connection <connection>', `catalog of another host, ${connectionHelp}`)
    .option('--start', 'start the machine after the pull')

const addImportOptions = (command: Command): Command =>
  command
    .description('Import a pack from a provider that has its description')
    .argument('<catalog-id>', 'name of the machine in the catalog')
    .requiredOption('--version <version>', 'version, such as 1.0.2-beta')
    .requiredOption('--architecture <name>', 'x86_64 or arm64')
    .option('--connection <connection>', `provider of the pack, ${connectionHelp}`)

const addJsonOption = (command: Command): Command =>
  command.option('--json', 'print only the resulting record, as JSON')

const transferFlags = {
  catalog_id: '<catalog-id>',
  version: '--version',
  architecture: '--architecture',
  connection: '--connection',
  uuid: '--machine',
  local_path: '--local-path',
  machine_name: '--name',
  description: '--description',
  tags: '--tag',
  required_claims: '--required-claim',
  required_roles: '--required-role',
  compress_pack_level: '--level',
  compress_format: '--format',
} as const

const createMissingError = (missing: string): ServiceError => new ServiceError('invalid', `Name ${missing}.`)
export const createNoConnectionError = (): ServiceError =>
  createMissingError('the provider with --connection or VMHOST_CONNECTION, such as provider=local-storage')

/** Adds the commands push, pull and import. `defaultConnection` is the connection if the options name none. */
export const addTransferCommands = (
  catalog: Command,
  register: RegisterCommand,
  defaultConnection: string | undefined,
): void => {
  register(addJsonOption(addPushOptions(catalog.command('push'))), async (callApi, invocation) => {
    requireTransfers(invocation)
    const options = invocation.options as unknown as PushOptions
    if (options.machine === undefined && options.localPath === undefined)
      throw createMissingError('the machine with --machine or --local-path')
    if (options.machine !== undefined && options.localPath !== undefined)
      throw createMissingError('the machine with either --machine or --local-path, not with both')
    const connection = (await readConnection(options.connection)) ?? defaultConnection
    if (connection === undefined) throw createNoConnectionError()
    const [catalogId = ''] = invocation.args
    const { result, steps } = await runTransfer(callApi, {
      kind: pushJob,
      schema: PushManifest,
      method: 'POST',
      path: '/catalog/push/async',
      body: toPushBody(catalogId, connection, options),
      flags: transferFlags,
    })
    const [manifest] = result as [CatalogManifest]
    const chunks = steps?.find(({ name }) => name === ('push_compress_stage' satisfies PushStep))?.message
    const form = chunks === undefined ? `, as a pack of ${formatByteSize(manifest.pack_size)}` : ` in ${chunks}`
    console.log(
      options.json
        ? formatJson(manifest)
        : `Pushed ${formatManifestName(manifest)}: ${formatByteSize(manifest.size)}${form}.`,
    )
  })
  register(addJsonOption(addPullOptions(catalog.command('pull'))), async (callApi, invocation) => {
    requireTransfers(invocation)
    const { name, version, architecture, connection, start } = invocation.options as Record<string, string | undefined>
    const [catalogId] = invocation.args
    const { result } = await runTransfer(callApi, {
      kind: pullJob,
      schema: PullManifest,
      method: 'PUT',
      path: '/catalog/pull/async',
      body: {
        catalog_id: catalogId,
        version,
        architecture,
        connection: (await readConnection(connection)) ?? defaultConnection,
        machine_name: name,
        start_after_pull: Boolean(start),
      },
      flags: transferFlags,
    })
    const pulled = result as PullResult
    if (invocation.options['json']) return console.log(formatJson(pulled))
    console.log(
      escapeControls(
        `Pulled ${formatManifestName(pulled)} as the machine ${pulled.machine_name} (${pulled.machine_id})${start ? ', which runs' : ''}.`,
      ),
    )
  })
  register(addImportOptions(catalog.command('import')), async (callApi, invocation) => {
    requireTransfers(invocation)
    const { version, architecture, connection: option } = invocation.options as Record<string, string | undefined>
    const connection = (await readConnection(option)) ?? defaultConnection
    if (connection === undefined) throw createNoConnectionError()
    const [catalogId] = invocation.args
    const body = { catalog_id: catalogId, version, architecture, connection }
    readRequest(ImportManifest, body, transferFlags)
    const { manifest } = await callApi<ImportResult>('PUT', '/catalog/import', body)
    console.log(`Imported ${formatManifestName(manifest)}: a pack of ${formatByteSize(manifest.pack_size)}.`)
  })
}
