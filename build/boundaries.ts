/** The floors of lib/: which folders each folder may import, types included, and how large folders and files may be. */
import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** What has no folder of its own: everybody may import it. */
const ground = new Set([
  'lib/errors.ts',
  'lib/schema-errors.ts',
  'lib/byte-size.ts',
  'lib/json-limits.ts',
  'lib/keys-of.ts',
  'lib/join-words.ts',
])

/** A folder of lib/, and the folders that it may import. Those of a row lie on lower floors, so there is no circle. */
const mayImport: Readonly<Record<string, readonly string[]>> = {
  access: ['async'],
  license: [],
  async: [],
  calls: ['access', 'async'],
  client: [],
  reference: [],
  web: ['client'],
  commands: ['client'],
  health: ['async'],
  http: ['access', 'async', 'calls'],
  platform: ['async', 'calls'],
  listener: ['access', 'async', 'calls', 'http', 'platform'],
  hypervisor: ['async', 'platform'],
  objects: ['async', 'platform'],
  ssh: ['platform'],
  storage: ['platform'],
  events: ['access', 'async', 'calls', 'platform', 'storage'],
  idempotency: ['async', 'calls', 'storage'],
  packs: ['async', 'objects', 'platform'],
  auth: ['access', 'async', 'events', 'platform', 'storage'],
  catalog: ['access', 'async', 'calls', 'events', 'objects', 'packs', 'platform', 'storage'],
  images: ['access', 'async', 'calls', 'events', 'hypervisor', 'objects', 'packs', 'platform', 'storage'],
  jobs: ['access', 'async', 'calls', 'events', 'storage'],
  machines: ['access', 'async', 'calls', 'events', 'hypervisor', 'platform', 'storage'],
  'snapshot-schedules': ['access', 'async', 'calls', 'events', 'hypervisor', 'machines', 'storage'],
  pools: ['access', 'async', 'calls', 'events', 'hypervisor', 'machines', 'storage'],
  metrics: ['calls', 'events', 'http', 'hypervisor'],
  'user-configs': ['events', 'storage'],
  audit: ['access', 'async', 'auth', 'calls', 'http', 'platform', 'storage'],
  hosts: ['access', 'async', 'auth', 'calls', 'client', 'events', 'http', 'license', 'storage'],
  doctor: ['health', 'hypervisor', 'platform'],
  report: ['doctor', 'hypervisor', 'packs', 'platform'],
  'service-unit': ['hypervisor', 'platform'],
  'remote-catalogs': ['access', 'async', 'calls', 'catalog', 'events', 'objects', 'platform', 'storage'],
  transfers: [
    'access',
    'async',
    'calls',
    'catalog',
    'events',
    'machines',
    'objects',
    'packs',
    'platform',
    'remote-catalogs',
    'storage',
  ],
}

/** The programs and their composition: they import anything below, and nothing imports the programs. */
const programs: Readonly<Record<string, readonly string[]>> = { compose: ['entry'], entry: [] }

const mostFilesInFolder = 40
const longest = { median: 90, percentile95: 220, any: 300 }

const folderOf = (file: string): string => file.split('/')[1]!

/** Paths of the modules of this repository that a source imports, types and lazy imports included. */
export const importsOf = (file: string): readonly string[] =>
  [
    ...readFileSync(file, 'utf8').matchAll(
      /(?:^import|^export|^\}|\n\}|\bimport\()[^'"`;]*?'((?:#(?:lib|functions)\/|\.\.?\/)[^']+\.tsx?)'/gm,
    ),
  ].map(([, from]) => (from!.startsWith('#') ? from!.slice(1) : join(dirname(file), from!)))

const isAllowed = (from: string, to: string): boolean => {
  const [importer, imported] = [folderOf(from), folderOf(to)]
  if (importer === imported || ground.has(to)) return true
  const excluded = programs[importer]
  if (excluded) return !excluded.includes(imported)
  return mayImport[importer]?.includes(imported) ?? false
}

/** The shortest chain of imports that leads from a file to a folder; undefined where none does. */
const chainTo = (
  folder: string,
  from: string,
  graph: ReadonlyMap<string, readonly string[]>,
): readonly string[] | undefined => {
  const queue: (readonly string[])[] = [[from]]
  const seen = new Set([from])
  for (const chain of queue) {
    const file = chain.at(-1)!
    if (chain.length > 1 && folderOf(file) === folder) return chain
    for (const next of graph.get(file) ?? [])
      if (next.startsWith('lib/') && !seen.has(next)) {
        seen.add(next)
        queue.push([...chain, next])
      }
  }
  return undefined
}

const brokenBoundaries = (graph: ReadonlyMap<string, readonly string[]>): readonly string[] =>
  [...graph].flatMap(([from, imported]) =>
    imported
      .filter(to => to.startsWith('lib/') && !isAllowed(from, to))
      .map(to => {
        const back = chainTo(folderOf(from), to, graph)
        const circle = back ? `; it leads back: ${[from, ...back].join(' → ')}` : ''
        return `${from} imports ${to}: build/boundaries.ts does not let lib/${folderOf(from)} import lib/${folderOf(to)}${circle}`
      }),
  )

/** How many files each folder of these has at one level, most first. */
const countFiles = (folders: string): readonly (readonly [folder: string, count: number])[] => {
  const counts = new Map<string, number>()
  for (const file of globSync(`${folders}/**/*.{ts,tsx,json}`))
    counts.set(dirname(file), (counts.get(dirname(file)) ?? 0) + 1)
  return [...counts].toSorted(([, one], [, other]) => other - one)
}

const overfullFolders = (): readonly string[] =>
  countFiles('{lib,functions,build,test}')
    .filter(([, count]) => count > mostFilesInFolder)
    .map(([folder, count]) => `${folder} has ${count} files at one level; ${mostFilesInFolder} is the limit`)

/** The lines of the files of these folders, fewest first, and the lines that a share of them does not exceed. */
const countLines = (folders: string) => {
  const lines = globSync(`${folders}/**/*.{ts,tsx}`)
    .filter(file => !file.endsWith('.gen.ts'))
    .map(file => ({ file, count: readFileSync(file, 'utf8').split('\n').length - 1 }))
    .toSorted((one, other) => one.count - other.count)
  return { lines, at: (share: number): number => lines[Math.floor(lines.length * share)]?.count ?? 0 }
}

const longFiles = (): readonly string[] => {
  const { lines, at } = countLines('{lib,functions,build}')
  return [
    ...lines
      .filter(({ count }) => count > longest.any)
      .map(({ file, count }) => `${file} has ${count} lines; ${longest.any} is the limit`),
    ...(at(0.5) > longest.median ? [`the median file has ${at(0.5)} lines; ${longest.median} is the limit`] : []),
    ...(at(0.95) > longest.percentile95
      ? [`one file of twenty has more than ${at(0.95)} lines; ${longest.percentile95} is the limit`]
      : []),
  ]
}

/** What breaks the layout: imports against the floors (with the chain that closes a circle), full folders, long files. */
export const findLayoutFaults = (): readonly string[] => {
  const files = globSync('lib/*/**/*.{ts,tsx}')
  const graph = new Map(files.map(file => [file, importsOf(file)]))
  const unknown = [...new Set(files.map(folderOf))]
    .filter(folder => !(folder in mayImport) && !(folder in programs))
    .map(folder => `build/boundaries.ts has no row for lib/${folder}`)
  return [...unknown, ...brokenBoundaries(graph), ...overfullFolders(), ...longFiles()]
}

/** The boundaries and the sizes of today, a line each. */
export const describeLayout = (): readonly string[] => [
  ...Object.entries(mayImport).map(
    ([folder, imported]) => `lib/${folder} may import ${imported.join(', ') || 'nothing'}`,
  ),
  ...['lib', 'functions', 'build', 'test'].map(folder => {
    const { lines, at } = countLines(folder)
    const [[fullest, count] = [folder, 0]] = countFiles(folder)
    const longest = lines.at(-1)
    return `${folder}: ${lines.length} files; lines: median ${at(0.5)}, p95 ${at(0.95)}, most ${longest?.count} (${longest?.file}); most files at one level: ${count} (${fullest})`
  }),
]
