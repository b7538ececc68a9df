import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { build } from 'esbuild'
import { type BuiltPages, createPageFile, pageOptions } from './web-console.ts'

/** Bundles the API reference, and gives its page and the files that it loads by their paths. */
export const buildReference = async (): Promise<BuiltPages> => {
  const { outputFiles, metafile } = await build({
    ...pageOptions,
    metafile: true,
    entryPoints: ['lib/reference/reference.tsx', 'lib/reference/reference.css'],
  })
  const files = outputFiles.map(({ path, contents }) => ({ name: basename(path), contents }))
  const find = (extension: string): string => files.find(({ name }) => name.endsWith(extension))!.name
  const page = readFileSync('lib/reference/reference.html', 'utf8')
    .replace('reference.tsx', find('.js'))
    .replace('reference.css', find('.css'))
  const pages = Object.fromEntries([
    ['/docs/api', createPageFile('reference.html', page)],
    ...files.map(({ name, contents }) => [`/assets/${name}`, createPageFile(name, contents)] as const),
  ])
  return { files: pages, metafile }
}
