import type { Command } from 'commander'
import type { CatalogManifest } from '#lib/catalog/manifest.ts'
import { pullJob, pushJob } from '#lib/catalog/transfers/contracts.ts'
import {
  ImportManifest,
  type ImportResult,
  PullManifest,
  type PullResult,
  PushManifest,
} from '#lib/catalog/transfers/requests.ts'
import { ServiceError } from '#lib/errors.ts'
import { byteSize } from '#lib/byte-size.ts'
import { connectionHelp, readConnection } from '../connection.ts'
import { jsonText, visible } from '../table.ts'
import { nameOf } from './catalog-text.ts'
import { readRequest } from './read-request.ts'
import { type Invocation, list, requireService, type Run } from './run.ts'
import { transferred } from './transfer.ts'

export const requireTransfers = (invocation: Invocation): void =>
  requireService(invocation, 'Machines go into the catalog and out of it through the service')

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

const pushBody = (catalogId: string, connection: string, options: PushOptions): object => ({
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

const pushCommand = (command: Command): Command =>
  command
    .description(
      'Pack a machine of this host, upload it and register it. Ctrl-C leaves that to the service; the same command follows it again',
    )
    .argument('<catalog-id>', 'name of the machine in the catalog')
    .requiredOption('--version <version>', 'such as 1.0.2-beta')
    .option('--machine <machine>', 'id or name of a machine, which must be stopped')
    .option('--local-path <folder>', 'in its place: the folder of a machine, or of a pvm or macvm bundle')
    .option('--connection <connection>', `where the pack goes, ${connectionHelp}`)
    .option('--architecture <name>', 'x86_64 or arm64; that of this host when left out')
    .option('--description <text>', 'what the machine is')
    .option('--tag <tag>', 'a tag; may be repeated', list, [])
    .option('--required-claim <claim>', 'a claim that its users need; may be repeated', list, [])
    .option('--required-role <role>', 'the same of a role', list, [])
    .option('--compress', 'compress the pack')
    .option('--level <level>', 'how much, from 0 to 9, or best_speed, balanced or best_compression; compresses')
    .option('--format <format>', 'gzip, or zstd, which other services than this may not read; compresses')
    .option('--chunked', 'as chunks that machines and versions share, which other services than this do not read')
    .option('--suspend', 'or may run: it is suspended while its files are read, and then goes on')
    .option('--no-override-existing', 'do not replace a manifest that is there already')

const pullCommand = (command: Command): Command =>
  command
    .description(
      'Make a machine of a pack of a catalog. Ctrl-C leaves that to the service; the same command follows it again',
    )
    .argument('<catalog-id>', 'name of the machine in the catalog')
    .requiredOption('--name <machine>', 'name of the new machine')
    .option('--version <version>', 'version or tag', 'latest')
    .option('--architecture <name>', 'x86_64 or arm64; that of this host when left out')
    .option('--connection <connection>', `another catalog, ${connectionHelp}`)
    .option('--start', 'start the machine')

const importCommand = (command: Command): Command =>
  command
    .description('Take a pack into the catalog that is on a provider with its description')
    .argument('<catalog-id>', 'name of the machine in the catalog')
    .requiredOption('--version <version>', 'such as 1.0.2-beta')
    .requiredOption('--architecture <name>', 'x86_64 or arm64')
    .option('--connection <connection>', `where the pack is, ${connectionHelp}`)

const withJson = (command: Command): Command => command.option('--json', 'the record of it as JSON, when it is done')

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

const missing = (what: string): ServiceError => new ServiceError('invalid', `Say ${what}.`)
export const noConnection = (): ServiceError =>
  missing('which provider, with --connection or VMHOST_CONNECTION, such as provider=local-storage')

/** Adds what brings machines into the catalog and out of it. `usual` is the connection of who names none. */
export const addTransfers = (catalog: Command, run: Run, usual: string | undefined): void => {
  run(withJson(pushCommand(catalog.command('push'))), async (ask, invocation) => {
    requireTransfers(invocation)
    const options = invocation.options as unknown as PushOptions
    if (options.machine === undefined && options.localPath === undefined)
      throw missing('which machine, with --machine or --local-path')
    if (options.machine !== undefined && options.localPath !== undefined)
      throw missing('which machine, with --machine or with --local-path, and not with both')
    const connection = (await readConnection(options.connection)) ?? usual
    if (connection === undefined) throw noConnection()
    const [catalogId = ''] = invocation.args
    const { result, steps } = await transferred(ask, {
      kind: pushJob,
      schema: PushManifest,
      method: 'POST',
      path: '/catalog/push/async',
      body: pushBody(catalogId, connection, options),
      flags: transferFlags,
    })
    const [one] = result as [CatalogManifest]
    const chunks = steps?.find(({ name }) => name === 'push_compress_stage')?.message
    const form = chunks === undefined ? `, as a pack of ${byteSize(one.pack_size)}` : ` in ${chunks}`
    console.log(options.json ? jsonText(one) : `Pushed ${nameOf(one)}: ${byteSize(one.size)}${form}.`)
  })
  run(withJson(pullCommand(catalog.command('pull'))), async (ask, invocation) => {
    requireTransfers(invocation)
    const { name, version, architecture, connection, start } = invocation.options as Record<string, string | undefined>
    const [catalogId] = invocation.args
    const { result } = await transferred(ask, {
      kind: pullJob,
      schema: PullManifest,
      method: 'PUT',
      path: '/catalog/pull/async',
      body: {
        catalog_id: catalogId,
        version,
        architecture,
        connection: (await readConnection(connection)) ?? usual,
        machine_name: name,
        start_after_pull: Boolean(start),
      },
      flags: transferFlags,
    })
    const pulled = result as PullResult
    if (invocation.options['json']) return console.log(jsonText(pulled))
    console.log(
      visible(
        `Pulled ${nameOf(pulled)} as the machine ${pulled.machine_name} (${pulled.machine_id})${start ? ', which runs' : ''}.`,
      ),
    )
  })
  run(importCommand(catalog.command('import')), async (ask, invocation) => {
    requireTransfers(invocation)
    const { version, architecture, connection: option } = invocation.options as Record<string, string | undefined>
    const connection = (await readConnection(option)) ?? usual
    if (connection === undefined) throw noConnection()
    const [catalogId] = invocation.args
    const body = { catalog_id: catalogId, version, architecture, connection }
    readRequest(ImportManifest, body, transferFlags)
    const { manifest } = await ask<ImportResult>('PUT', '/catalog/import', body)
    console.log(`Imported ${nameOf(manifest)}: a pack of ${byteSize(manifest.pack_size)}.`)
  })
}
