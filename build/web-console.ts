import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { basename, extname } from 'node:path'
import { gzipSync } from 'node:zlib'
import { build, type Metafile } from 'esbuild'
import type { Route } from '#lib/http/endpoint.ts'
import { nameOperation } from './client/operation.ts'
import type { PageFile } from '#lib/http/pages.ts'

const types: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
}

/** The most bytes of what a browser loads before it shows the first page, with gzip. */
const budget = 150_000

const digestLength = 16

const createPageFile = (name: string, content: Uint8Array | string): PageFile => ({
  type: types[extname(name)]!,
  tag: hash('sha256', content).slice(0, digestLength),
  body: gzipSync(content, { level: 9 }).toString('base64'),
})

/** Who may call each operation, by its name in the typed client. */
const listAccess = (routes: readonly Route[]): Readonly<Record<string, Route['endpoint']['access']>> =>
  Object.fromEntries(routes.map(route => [nameOperation(route).join('.'), route.endpoint.access] as const))

const sizeOf = ({ body }: PageFile): number => Buffer.from(body, 'base64').length

interface BuiltConsole {
  /** All files, as one JSON object. */
  readonly text: string
  readonly metafile: Metafile
}

/**
 * Bundles the web console. Its text is a JSON object with its files (see `lib/http/pages.ts`). The names of assets have the
 * digest of their content. Consoles and screens are chunks, which a page loads when somebody opens one. Throws when the first page is
 * too large.
 */
export const buildWebConsole = async (routes: readonly Route[]): Promise<BuiltConsole> => {
  const { outputFiles, metafile } = await build({
    bundle: true,
    minify: true,
    splitting: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    legalComments: 'none',
    define: { OPERATION_ACCESS: JSON.stringify(listAccess(routes)) },
    logLevel: 'warning',
    write: false,
    metafile: true,
    outdir: 'assets',
    entryNames: '[name]-[hash]',
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
  return { text: JSON.stringify(pages), metafile }
}
