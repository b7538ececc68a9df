import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Metafile } from 'esbuild'

const packageOf = /^(?:.*\/)?(node_modules\/(?:@[^/]+\/)?[^/]+)\//

/** The folders of the packages that are in a bundle, in order. */
export const packagesOf = ({ inputs }: Metafile): readonly string[] =>
  [...new Set(Object.keys(inputs).flatMap(file => packageOf.exec(file)?.[1] ?? []))].sort()

/** The licenses of every package that is in a bundle, as one text: most ask to go along with their code. */
export const licensesOf = (metafile: Metafile): string =>
  packagesOf(metafile)
    .map(folder => {
      // npm's format.
      const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
        name: string
        version: string
        license?: string
      }
      const texts = globSync(join(folder, '{LICENSE,LICENCE,license,COPYING}*')).map(file =>
        readFileSync(file, 'utf8').trim(),
      )
      return [`${name} ${version} (${license ?? 'see its text'})`, ...texts].join('\n\n')
    })
    .join(`\n\n${'-'.repeat(80)}\n\n`)
