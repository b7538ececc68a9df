import { setTimeout as wait } from 'node:timers/promises'
import { Command } from 'commander'
import type { CatalogManifest } from '#lib/catalog/manifest-schema.ts'
import { CatalogPlace } from '#lib/catalog/reference.ts'
import { parseSidecar, findSigners } from '#lib/packs/sidecar.ts'
import { ServiceError } from '#lib/errors.ts'
import { takeConnection } from '../admin/read-connection.ts'
import { jsonText, visible } from '../admin/text-table.ts'
import { addClean } from './catalog-clean.ts'
import { addTransfers } from './catalog-transfers.ts'
import { manifestTable, manifestText, nameOf } from './catalog-text.ts'
import type { Ask } from '../admin/admin-client.ts'
import type { Run } from './run.ts'

const at = (...place: readonly string[]): string => ['/catalog', ...place.map(encodeURIComponent)].join('/')

/** Where manifests are. Throws `invalid` for words that lead elsewhere: `/catalog/cache` is no manifest. */
const placeOf = (args: readonly string[]): string => {
  const [catalogId = '', version, architecture] = args
  const read = CatalogPlace.safeParse({ catalogId, version, architecture })
  const issue = read.error?.issues[0]
  if (issue) {
    const word = { catalogId, version, architecture }[String(issue.path[0])]
    throw new ServiceError('invalid', `"${word ?? ''}" ${issue.message}.`)
  }
  return at(...args)
}

/** Milliseconds that the storage has to say it. */
const signedWithin = 3_000

/** Who has signed the pack; empty where that cannot be told, as of a tainted one, or its storage does not answer. */
const signedText = async (ask: Ask, { catalog_id, version, architecture }: CatalogManifest): Promise<string> => {
  try {
    const asked = ask<object>('GET', `${at(catalog_id, version, architecture)}/download?content=pieces`)
    const side = await Promise.race([asked, wait(signedWithin, undefined, { ref: false })])
    if (side === undefined) return ''
    const keys = findSigners(parseSidecar(JSON.stringify(side)))
    return keys.length === 0 ? 'no' : `by ${keys.join(' ')}`
  } catch {
    return ''
  }
}

const marks = {
  taint: ['Taint a manifest: nobody can pull it until it is untainted', 'is tainted'],
  untaint: ['Untaint a manifest: it can be pulled again', 'is not tainted any more'],
  revoke: ['Revoke a manifest: nobody can pull it any more; you cannot undo this', 'is revoked'],
} as const

/** `vmhost catalog …` */
export const catalogCommand = (run: Run): Command => {
  const catalog = new Command('catalog').description('The catalog: packed machines and their versions')

  run(
    catalog.command('list').description('List the manifests').option('--json', 'as JSON'),
    async (ask, { options }) => {
      const all = await ask<CatalogManifest[]>('GET', at())
      if (options['json']) console.log(jsonText(all))
      else console.log(all.length === 0 ? 'The catalog is empty.' : manifestTable(all))
    },
  )
  run(
    catalog
      .command('show')
      .description('Show all versions of a catalog id, or one version or architecture')
      .argument('<catalog-id>', 'name of the machine in the catalog')
      .argument('[version]', 'version or tag')
      .argument('[architecture]', 'x86_64 or arm64; default: both')
      .option('--json', 'as JSON'),
    async (ask, { args, options }) => {
      const found = await ask<CatalogManifest[]>('GET', placeOf(args))
      if (options['json']) return console.log(jsonText(found))
      const [one] = found
      console.log(
        one && found.length === 1
          ? manifestText(one, await signedText(ask, one))
          : found.map(each => manifestText(each)).join('\n\n'),
      )
    },
  )
  const usual = takeConnection()
  addTransfers(catalog, run, usual)
  addClean(catalog, run, usual)
  for (const [verb, [description, outcome]] of Object.entries(marks))
    run(
      catalog
        .command(verb)
        .description(description)
        .argument('<catalog-id>', 'name of the machine in the catalog')
        .argument('<version>', 'version, not a tag')
        .argument('<architecture>', 'x86_64 or arm64'),
      async (ask, { args }) => {
        const [manifest] = await ask<[CatalogManifest]>('PATCH', `${placeOf(args)}/${verb}`)
        console.log(`${nameOf(manifest)} ${outcome}.`)
      },
    )
  run(
    catalog
      .command('delete')
      .description('Delete a catalog id, a version or an architecture, with its objects on the provider')
      .argument('<catalog-id>', 'name of the machine in the catalog')
      .argument('[version]', 'version, not a tag; default: all')
      .argument('[architecture]', 'x86_64 or arm64; default: both')
      .option('--no-clean-remote', 'keep the objects on the provider'),
    async (ask, { args, options }) => {
      const { message } = await ask<{ message: string }>(
        'DELETE',
        `${placeOf(args)}?clean_remote=${String(options['cleanRemote'])}`,
      )
      console.log(visible(message))
    },
  )
  return catalog
}
