import { Command } from 'commander'
import type { CatalogManifest } from '#lib/catalog/manifest.ts'
import { CatalogPlace } from '#lib/catalog/place.ts'
import { ServiceError } from '#lib/errors.ts'
import { takeConnection } from '../connection.ts'
import { jsonText, visible } from '../table.ts'
import { addClean } from './catalog-clean.ts'
import { addTransfers } from './catalog-transfers.ts'
import { manifestTable, manifestText, nameOf } from './catalog-text.ts'
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

const marks = {
  taint: ['Mark a manifest as not to be used: nobody can pull it until it is untainted', 'is tainted'],
  untaint: ['Take that back', 'is not tainted any more'],
  revoke: ['Mark a manifest as never to be used again; this cannot be taken back', 'is revoked'],
} as const

/** `vmhost catalog …` */
export const catalogCommand = (run: Run): Command => {
  const catalog = new Command('catalog').description('The catalog: machines as packs, with their versions')

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
      .argument('<catalog-id>')
      .argument('[version]', 'version or tag')
      .argument('[architecture]')
      .option('--json', 'as JSON'),
    async (ask, { args, options }) => {
      const found = await ask<CatalogManifest[]>('GET', placeOf(args))
      console.log(options['json'] ? jsonText(found) : found.map(manifestText).join('\n\n'))
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
        .argument('<catalog-id>')
        .argument('<version>')
        .argument('<architecture>'),
      async (ask, { args }) => {
        const [manifest] = await ask<[CatalogManifest]>('PATCH', `${placeOf(args)}/${verb}`)
        console.log(`${nameOf(manifest)} ${outcome}.`)
      },
    )
  run(
    catalog
      .command('delete')
      .description(
        'Delete a catalog id, one of its versions or an architecture of that, with its objects on the provider',
      )
      .argument('<catalog-id>')
      .argument('[version]')
      .argument('[architecture]')
      .option('--no-clean-remote', 'leave the objects on the provider'),
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
