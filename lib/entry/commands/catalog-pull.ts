import type { CatalogPullAsyncRequest } from '#lib/client/api.gen.ts'
import type { Command } from 'commander'
import { pullJob } from '#lib/transfers/contracts.ts'
import { PullManifest, type PullResult } from '#lib/transfers/schemas.ts'
import type { Service } from '../connect/service.ts'
import { connectionHelp, readConnection } from '../admin/read-connection.ts'
import { escapeControls, formatJson } from '../admin/text-table.ts'
import { formatManifestName } from './catalog-text.ts'
import type { Invocation } from './invocation.ts'
import { runTransfer } from './transfer.ts'
import { transferFlags } from './transfer-options.ts'

/** The options that `addPullOptions` declares. */
export interface PullOptions {
  readonly name: string
  readonly version: string
  readonly architecture?: string
  readonly connection?: string
  readonly start?: true
  readonly json?: true
}

export const addPullOptions = (command: Command): Command =>
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

/** Pulls a manifest and follows the job to its end. */
export const runPull = async (
  service: Service,
  invocation: Invocation<PullOptions>,
  defaultConnection: string | undefined,
): Promise<void> => {
  const { name, version, architecture, connection, start, json } = invocation.options
  const [catalogId] = invocation.args
  const body = {
    catalog_id: catalogId,
    version,
    architecture,
    connection: (await readConnection(connection)) ?? defaultConnection,
    machine_name: name,
    start_after_pull: start === true,
  }
  const { result } = await runTransfer(service, {
    kind: pullJob,
    schema: PullManifest,
    // Its schema is checked first.
    start: ({ api }) => api.catalog.pullAsync({ body: body as CatalogPullAsyncRequest['body'] }),
    body,
    flags: transferFlags,
  })
  // The reply of the endpoint that the job ran.
  const pulled = result as PullResult
  if (json) return console.log(formatJson(pulled))
  console.log(
    escapeControls(
      `Pulled ${formatManifestName(pulled)} as the machine ${pulled.machine_name} (${pulled.machine_id})${start ? ', which runs' : ''}.`,
    ),
  )
}
