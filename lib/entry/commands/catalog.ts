import { waitAtMost } from '#lib/async/time-limit.ts'
import { Command } from 'commander'
import type { CatalogManifest } from '#lib/catalog/manifest-schema.ts'
import { CatalogReferenceParams } from '#lib/catalog/reference.ts'
import { parseSidecar, findSigners } from '#lib/packs/sidecar.ts'
import { ServiceError } from '#lib/errors.ts'
import { formatJson, escapeControls } from '../admin/text-table.ts'
import { addCleanCommand } from './catalog-clean.ts'
import { addTransferCommands } from './catalog-transfers.ts'
import { formatManifestTable, formatManifest, formatManifestName } from './catalog-text.ts'
import type { ApiClient } from '../admin/admin-client.ts'
import type { CommandContext } from './context.ts'

const toCatalogPath = (...parts: readonly string[]): string => ['/catalog', ...parts.map(encodeURIComponent)].join('/')

/**
 * Returns the path of manifests. Throws `invalid` for arguments that are no manifest reference, such as `cache`
 * (`/catalog/cache`).
 */
const toManifestPath = (args: readonly string[]): string => {
  const [catalogId = '', version, architecture] = args
  const parsed = CatalogReferenceParams.safeParse({ catalogId, version, architecture })
  const issue = parsed.error?.issues[0]
  if (issue) {
    const word = { catalogId, version, architecture }[String(issue.path[0])]
    throw new ServiceError('invalid', `"${word ?? ''}" ${issue.message}.`)
  }
  return toCatalogPath(...args)
}

/** Milliseconds to wait for the sidecar of a pack from its storage. */
const signatureTimeout = 3_000

/** Returns the keys that have signed a pack. Returns an empty text if the manifest is tainted or its storage does not reply. */
const describeSigners = async (
  callApi: ApiClient,
  { catalog_id, version, architecture }: CatalogManifest,
): Promise<string> => {
  try {
    const request = callApi<object>(
      'GET',
      `${toCatalogPath(catalog_id, version, architecture)}/download?content=pieces`,
    )
    const sidecar = await waitAtMost(request, signatureTimeout)
    if (!sidecar) return ''
    const keys = findSigners(parseSidecar(JSON.stringify(sidecar.value)))
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
export const createCatalogCommand = ({
  registerCatalog: register,
  connection: defaultConnection,
}: CommandContext): Command => {
  const catalog = new Command('catalog')

  register(
    catalog.command('list').description('List the manifests').option('--json', 'as JSON'),
    async (callApi, { options }) => {
      const all = await callApi<CatalogManifest[]>('GET', toCatalogPath())
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
    async (callApi, { args, options }) => {
      const found = await callApi<CatalogManifest[]>('GET', toManifestPath(args))
      if (options['json']) return console.log(formatJson(found))
      const [manifest] = found
      console.log(
        manifest && found.length === 1
          ? formatManifest(manifest, await describeSigners(callApi, manifest))
          : found.map(each => formatManifest(each)).join('\n\n'),
      )
    },
  )
  addTransferCommands(catalog, register, defaultConnection)
  addCleanCommand(catalog, register, defaultConnection)
  for (const [verb, [description, outcome]] of Object.entries(flagCommands))
    register(
      catalog
        .command(verb)
        .description(description)
        .argument('<catalog-id>', 'name of the machine in the catalog')
        .argument('<version>', 'version, not a tag')
        .argument('<architecture>', 'x86_64 or arm64'),
      async (callApi, { args }) => {
        const [manifest] = await callApi<[CatalogManifest]>('PATCH', `${toManifestPath(args)}/${verb}`)
        console.log(`${formatManifestName(manifest)} ${outcome}.`)
      },
    )
  register(
    catalog
      .command('delete')
      .description('Delete a catalog id, a version or an architecture, with its objects on the provider')
      .argument('<catalog-id>', 'name of the machine in the catalog')
      .argument('[version]', 'version, not a tag; default: all')
      .argument('[architecture]', 'x86_64 or arm64; default: both')
      .option('--no-clean-remote', 'keep the objects on the provider'),
    async (callApi, { args, options }) => {
      const { message } = await callApi<{ message: string }>(
        'DELETE',
        `${toManifestPath(args)}?clean_remote=${String(options['cleanRemote'])}`,
      )
      console.log(escapeControls(message))
    },
  )
  return catalog
}
