import type { Command } from 'commander'
import { ImportManifest } from '#lib/transfers/schemas.ts'
import { formatByteSize } from '#lib/byte-size.ts'
import type { Service } from '../connect/service.ts'
import { connectionHelp } from '../admin/read-connection.ts'
import { addPullOptions, type PullOptions, runPull } from './catalog-pull.ts'
import { addPushOptions, type PushOptions, runPush } from './catalog-push.ts'
import { formatManifestName } from './catalog-text.ts'
import type { Invocation, RegisterCommand, TextOptions } from './invocation.ts'
import type { CatalogImportRequest } from '#lib/client/api.gen.ts'
import { readRequest } from './read-request.ts'
import { addJsonOption, requireConnection, transferFlags } from './transfer-options.ts'

const addImportOptions = (command: Command): Command =>
  command
    .description('Import a pack from a provider that has its description')
    .argument('<catalog-id>', 'name of the machine in the catalog')
    .requiredOption('--version <version>', 'version, such as 1.0.2-beta')
    .requiredOption('--architecture <name>', 'x86_64 or arm64')
    .option('--connection <connection>', `provider of the pack, ${connectionHelp}`)

type ImportBody = CatalogImportRequest['body']

const runImport = async (
  { client }: Service,
  invocation: Invocation<TextOptions>,
  defaultConnection: string | undefined,
): Promise<void> => {
  const { version, architecture, connection: option } = invocation.options
  const connection = await requireConnection(option, defaultConnection)
  const [catalogId] = invocation.args
  const body = { catalog_id: catalogId, version, architecture, connection }
  // Names the wrong options before the service sees the request.
  readRequest(ImportManifest, body, transferFlags)
  // The schema has just checked it.
  const { manifest } = await client.api.catalog.import({ body: body as ImportBody })
  console.log(`Imported ${formatManifestName(manifest)}: a pack of ${formatByteSize(manifest.pack_size)}.`)
}

/** Adds the commands push, pull and import. `defaultConnection` is the connection if the options name none. */
export const addTransferCommands = (
  catalog: Command,
  register: RegisterCommand,
  defaultConnection: string | undefined,
): void => {
  register<PushOptions>(addJsonOption(addPushOptions(catalog.command('push'))), (service, invocation) =>
    runPush(service, invocation, defaultConnection),
  )
  register<PullOptions>(addJsonOption(addPullOptions(catalog.command('pull'))), (service, invocation) =>
    runPull(service, invocation, defaultConnection),
  )
  register<TextOptions>(addImportOptions(catalog.command('import')), (service, invocation) =>
    runImport(service, invocation, defaultConnection),
  )
}
