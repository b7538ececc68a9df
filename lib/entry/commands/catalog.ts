import { waitAtMost } from '#lib/async/time-limit.ts'
import { Command } from 'commander'
import type { CatalogManifest } from '#lib/catalog/manifest-schema.ts'
import { CatalogReferenceParams } from '#lib/catalog/reference.ts'
import { parseSidecar, findSigners } from '#lib/packs/sidecar.ts'
import { ServiceError } from '#lib/errors.ts'
import { formatJson, escapeControls } from '../admin/text-table.ts'
import { catalog as group } from '#lib/commands/catalog.ts'
import { createGroupCommand } from '../definitions/create-commands.ts'
import { addCleanCommand } from './catalog-clean.ts'
import { addTransferCommands } from './catalog-transfers.ts'
import { formatManifestTable, formatManifest, formatManifestName } from './catalog-text.ts'
import type { Client } from '#lib/client/types.ts'
import { keysOf } from '#lib/keys-of.ts'
import type { CommandContext } from './context.ts'

/** A manifest reference, whose last parts may be left out. */
interface ManifestParams {
  readonly catalogId: string
  readonly version?: string | undefined
  readonly architecture?: string | undefined
}

/**
 * Returns the manifest reference of arguments. Throws `invalid` for arguments that are no manifest reference, such as `cache`
 * (`/catalog/cache`).
 */
const toManifestParams = (args: readonly string[]): ManifestParams => {
  const [catalogId = '', version, architecture] = args
  const parsed = CatalogReferenceParams.safeParse({ catalogId, version, architecture })
  const issue = parsed.error?.issues[0]
  if (issue) {
    const word = { catalogId, version, architecture }[String(issue.path[0])]
    throw new ServiceError('invalid', `"${word ?? ''}" ${issue.message}.`)
  }
  return { catalogId, version, architecture }
}

/** Milliseconds to wait for the sidecar of a pack from its storage. */
const signatureTimeout = 3_000

/** Returns the keys that have signed a pack. Returns an empty text if the manifest is tainted or its storage does not reply. */
const describeSigners = async (
  { api }: Client,
  { catalog_id: catalogId, version, architecture }: CatalogManifest,
): Promise<string> => {
  try {
    const params = { catalogId, version, architecture }
    const request = api.catalog.download({ params, query: { content: 'pieces' } })
    const sidecar = await waitAtMost(request, signatureTimeout)
    if (!sidecar) return ''
    const keys = findSigners(parseSidecar(await new Response(sidecar.value).text()))
    return keys.length === 0 ? 'no' : `by ${keys.join(' ')}`
  } catch {
    return ''
  }
}

const flagCommands = {
  taint: ['Taint a manifest: nobody can pull it until it is untainted', 'is tainted'],
  untaint: ['Untaint a manifest: it can be pulled again', 'is not tainted any more'],
  revoke: ['Revoke a manifest: nobody can pull it any more; you cannot undo this', 'is revoked'],
} as const

/** `vmhost catalog …` */
export const createCatalogCommand = (context: CommandContext): Command => {
  const { createRegister, connection: defaultConnection } = context
  const register = createRegister('catalog')
  const catalog = new Command('catalog')

  register(
    catalog.command('list').description('List the manifests').option('--json', 'as JSON'),
    async ({ client }, { options }) => {
      const all = await client.api.catalog.list()
      if (options['json']) console.log(formatJson(all))
      else console.log(all.length === 0 ? 'The catalog is empty.' : formatManifestTable(all))
    },
  )
  register(
    catalog
      .command('show')
      .description('Show all versions of a catalog id, or one version or architecture')
      .argument('<catalog-id>', 'name of the machine in the catalog')
      .argument('[version]', 'version or tag')
      .argument('[architecture]', 'x86_64 or arm64; default: both')
      .option('--json', 'as JSON'),
    async ({ client }, { args, options }) => {
      const found = await client.api.catalog.show({ params: toManifestParams(args) })
      if (options['json']) return console.log(formatJson(found))
      const [manifest] = found
      console.log(
        manifest && found.length === 1
          ? formatManifest(manifest, await describeSigners(client, manifest))
          : found.map(each => formatManifest(each)).join('\n\n'),
      )
    },
  )
  addTransferCommands(catalog, createRegister(), defaultConnection)
  addCleanCommand(catalog, createRegister(), defaultConnection)
  for (const verb of keysOf(flagCommands)) {
    const [description, outcome] = flagCommands[verb]
    register(
      catalog
        .command(verb)
        .description(description)
        .argument('<catalog-id>', 'name of the machine in the catalog')
        .argument('<version>', 'version, not a tag')
        .argument('<architecture>', 'x86_64 or arm64'),
      async ({ client }, { args }) => {
        const { catalogId, version = '', architecture = '' } = toManifestParams(args)
        const [manifest] = await client.api.catalog[verb]({ params: { catalogId, version, architecture } })
        if (manifest) console.log(`${formatManifestName(manifest)} ${outcome}.`)
      },
    )
  }
  register(
    catalog
      .command('delete')
      .description('Delete a catalog id, a version or an architecture, with its objects on the provider')
      .argument('<catalog-id>', 'name of the machine in the catalog')
      .argument('[version]', 'version, not a tag; default: all')
      .argument('[architecture]', 'x86_64 or arm64; default: both')
      .option('--no-clean-remote', 'keep the objects on the provider'),
    async ({ client }, { args, options }) => {
      const { message } = await client.api.catalog.delete({
        params: toManifestParams(args),
        query: { clean_remote: options['cleanRemote'] !== false },
      })
      console.log(escapeControls(message))
    },
  )
  return createGroupCommand(group, context, catalog)
}
