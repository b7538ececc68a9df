import type { CatalogPushAsyncRequest } from '#lib/client/api.gen.ts'
import type { Command } from 'commander'
import type { CatalogManifest } from '#lib/catalog/manifest-schema.ts'
import { pushJob } from '#lib/transfers/contracts.ts'
import { PushManifest } from '#lib/transfers/schemas.ts'
import type { PushStep } from '#lib/transfers/steps.ts'
import { ServiceError } from '#lib/errors.ts'
import { formatByteSize } from '#lib/byte-size.ts'
import type { Service } from '../connect/service.ts'
import { connectionHelp } from '../admin/read-connection.ts'
import { formatJson } from '../admin/text-table.ts'
import { formatManifestName } from './catalog-text.ts'
import { collectValues, type Invocation } from './invocation.ts'
import { runTransfer } from './transfer.ts'
import { requireConnection, transferFlags } from './transfer-options.ts'

/** The options that `addPushOptions` declares. */
export interface PushOptions {
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
  readonly snapshot?: string
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
  snapshot: options.snapshot,
  override_existing: options.overrideExisting,
})

export const addPushOptions = (command: Command): Command =>
  command
    .description(
      'Pack a machine of this host, upload the pack and register it. Ctrl-C leaves the job to the service; the same command follows it again',
    )
    .argument('<catalog-id>', 'name of the machine in the catalog')
    .requiredOption('--version <version>', 'version, such as 1.0.2-beta')
    .option('--machine <machine>', 'id or name of a stopped machine (or see --suspend and --snapshot)')
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
    .option('--snapshot <snapshot>', 'name or id of a snapshot to push, without its memory; the machine may run')
    .option('--no-override-existing', 'do not replace an existing manifest')

/** Pushes a machine and follows the job to its end. */
export const runPush = async (
  service: Service,
  invocation: Invocation<PushOptions>,
  defaultConnection: string | undefined,
): Promise<void> => {
  const { options } = invocation
  if (options.machine === undefined && options.localPath === undefined)
    throw new ServiceError('invalid', 'Name the machine with --machine or --local-path.')
  if (options.machine !== undefined && options.localPath !== undefined)
    throw new ServiceError('invalid', 'Name the machine with either --machine or --local-path, not with both.')
  const connection = await requireConnection(options.connection, defaultConnection)
  const [catalogId = ''] = invocation.args
  const body = toPushBody(catalogId, connection, options)
  const { result, steps } = await runTransfer(service, {
    kind: pushJob,
    schema: PushManifest,
    // Its schema is checked first.
    start: ({ api }) => api.catalog.pushAsync({ body: body as CatalogPushAsyncRequest['body'] }),
    body,
    flags: transferFlags,
  })
  // The result of a job is JSON; that of a push is a list with its manifest.
  const [manifest] = result as [CatalogManifest]
  const chunkMessage = steps?.find(({ name }) => name === ('push_compress_stage' satisfies PushStep))?.message
  const packed =
    chunkMessage === undefined ? `, as a pack of ${formatByteSize(manifest.pack_size)}` : ` in ${chunkMessage}`
  console.log(
    options.json
      ? formatJson(manifest)
      : `Pushed ${formatManifestName(manifest)}: ${formatByteSize(manifest.size)}${packed}.`,
  )
}
