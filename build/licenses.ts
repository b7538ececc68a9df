import { existsSync, globSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { Metafile } from 'esbuild'

const packagePattern = /^(?:.*\/)?(node_modules\/(?:@[^/]+\/)?[^/]+)\//

/** The folder of the package that a file of a bundle belongs to; undefined for the files of this repository. */
export const packageOf = (file: string): string | undefined => packagePattern.exec(file)?.[1]

/** The folders of the packages that are in a bundle, in order. */
export const packagesOf = ({ inputs }: Metafile): readonly string[] =>
  [...new Set(Object.keys(inputs).flatMap(file => packageOf(file) ?? []))].sort()

/** What a package says about itself. */
export interface PackageFacts {
  readonly name: string
  readonly version: string
  /** An SPDX expression. */
  readonly license?: string
}

// npm's format, of today and of before.
interface Manifest extends PackageFacts {
  readonly licenses?: readonly { readonly type: string }[]
}

export const readPackage = (folder: string): PackageFacts => {
  const {
    name,
    version,
    licenses,
    license = licenses?.map(({ type }) => type).join(' OR '),
  } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest
  return { name, version, ...(license !== undefined && { license }) }
}

/** A line between two licenses. */
export const licenseSeparator = `\n\n${'-'.repeat(80)}\n\n`

/** The folders of this repository in a bundle whose files are somebody else's, such as a font: they have a license of their own. */
const foldersOfOthers = ({ inputs }: Metafile): readonly string[] =>
  [
    ...new Set(
      Object.keys(inputs)
        .filter(file => packageOf(file) === undefined)
        .map(dirname),
    ),
  ]
    .filter(folder => folder !== '.' && existsSync(join(folder, 'LICENSE')))
    .sort()

const readPackageLicense = (folder: string): string => {
  const { name, version, license } = readPackage(folder)
  const texts = globSync(join(folder, '{LICENSE,LICENCE,license,COPYING}*')).map(file =>
    readFileSync(file, 'utf8').trim(),
  )
  return [`${name} ${version} (${license ?? 'see its text'})`, ...texts].join('\n\n')
}

/** The licenses of all others whose work is in a bundle, as one text: most ask to go along with their code. */
export const licensesOf = (metafile: Metafile): string =>
  [
    ...packagesOf(metafile).map(readPackageLicense),
    ...foldersOfOthers(metafile).map(folder =>
      [basename(folder), readFileSync(join(folder, 'LICENSE'), 'utf8').trim()].join('\n\n'),
    ),
  ].join(licenseSeparator)
