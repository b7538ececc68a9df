import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { basename, extname } from 'node:path'
import { gzipSync } from 'node:zlib'
import { build, type BuildOptions, type Metafile } from 'esbuild'
import type { Route } from '#lib/http/endpoint.ts'
import { nameOperation } from './client/operation.ts'
import { commandGroups } from './commands/groups.ts'
import type { PageFile, PageFiles } from '#lib/http/pages.ts'

const types: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
}

/** How esbuild bundles what a page loads. The names of the files have the digest of their content. */
export const pageOptions = {
  bundle: true,
  minify: true,
  format: 'esm',
  platform: 'browser',
  target: 'es2022',
  jsx: 'automatic',
  jsxImportSource: 'preact',
  legalComments: 'none',
  logLevel: 'warning',
  write: false,
  outdir: 'assets',
  entryNames: '[name]-[hash]',
} as const satisfies BuildOptions

/** The most bytes of what a browser loads before it shows the first page, with gzip. */
const budget = 150_000

const digestLength = 16

/** A file as pages are served: compressed, with a tag for its content. */
export const createPageFile = (name: string, content: Uint8Array | string): PageFile => ({
  type: types[extname(name)]!,
  tag: hash('sha256', content).slice(0, digestLength),
  body: gzipSync(content, { level: 9 }).toString('base64'),
})

/** Who may call each operation, by its name in the typed client. */
const listAccess = (routes: readonly Route[]): Readonly<Record<string, Route['endpoint']['access']>> =>
  Object.fromEntries(routes.map(route => [nameOperation(route).join('.'), route.endpoint.access] as const))

/** The command that calls each operation, with the inputs that can stand in its line; by the name in the typed client. */
const listCommands = (): Readonly<Record<string, object>> =>
  Object.fromEntries(
    commandGroups.flatMap(({ name, commands }) =>
      commands.map(({ name: words, operation, inputs = [] }) => [
        operation,
        {
          words: `${name} ${words}`.trim(),
          inputs: inputs.map(({ flag, to, kind }) => (kind ? [flag, to, kind] : [flag, to])),
        },
      ]),
    ),
  )

const sizeOf = ({ body }: PageFile): number => Buffer.from(body, 'base64').length

/** Files of pages by their paths, and what they were bundled from. */
export interface BuiltPages {
  readonly files: PageFiles
  readonly metafile: Metafile
}

/**
 * Bundles the web console, and gives its files by their paths. The names of assets have the
 * digest of their content. Consoles and screens are chunks, which a page loads when somebody opens one. Throws when the first page is
 * too large.
 */
export const buildWebConsole = async (routes: readonly Route[]): Promise<BuiltPages> => {
  const { outputFiles, metafile } = await build({
    ...pageOptions,
    splitting: true,
    define: {
      OPERATION_ACCESS: JSON.stringify(listAccess(routes)),
      OPERATION_COMMANDS: JSON.stringify(listCommands()),
    },
    metafile: true,
    chunkNames: '[name]-[hash]',
    assetNames: '[name]-[hash]',
    loader: { '.svg': 'file' },
    entryPoints: ['lib/web/main.tsx', 'lib/web/style.css', 'lib/web/icon.svg'],
  })
  // Of a picture that is an entry point esbuild makes a script that names it, too.
  const files = outputFiles
    .map(({ path, contents }) => ({ name: basename(path), contents }))
    .filter(({ name }) => !/^icon-\w+\.js$/.test(name))
  const find = (pattern: RegExp): string => files.find(({ name }) => pattern.test(name))!.name
  const [script, style, icon] = [find(/^main-\w+\.js$/), find(/^style-\w+\.css$/), find(/^icon-\w+\.svg$/)]
  const page = readFileSync('lib/web/index.html', 'utf8')
    .replace('main.tsx', script)
    .replace('style.css', style)
    .replace('icon.svg', icon)
  const pages = Object.fromEntries([
    ['/', createPageFile('index.html', page)],
    ...files.map(({ name, contents }) => [`/assets/${name}`, createPageFile(name, contents)] as const),
  ])
  const statics = metafile.outputs[`assets/${script}`]!.imports.filter(({ kind }) => kind === 'import-statement')
  const first = ['/', `/assets/${script}`, `/assets/${style}`, ...statics.map(({ path }) => `/${path}`)]
  const size = first.reduce((total, path) => total + sizeOf(pages[path]!), 0)
  if (size > budget) throw new Error(`The web console loads ${size} bytes at first; it may load ${budget}.`)
  return { files: pages, metafile }
}
