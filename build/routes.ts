/** Reads every file under functions/ and writes the routing tables; `--check` fails where one on disk is stale. */
import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { edgeProvides } from '#lib/entry/edge-provides.ts'
import type { Endpoint, Route } from '#lib/http/endpoint.ts'

const ids = globSync('functions/*/*.ts')
  .map(file => file.slice('functions/'.length, -'.ts'.length))
  .sort()

const load = async (id: string): Promise<Route> => {
  const module = (await import(pathToFileURL(`functions/${id}.ts`).href)) as { default?: Endpoint }
  if (!module.default?.access)
    throw new Error(`functions/${id}.ts must export default endpoint({ …, access, … }).handle(…)`)
  return { id, endpoint: module.default }
}

const pairs = ({ endpoint }: Route): string[] => [`${endpoint.method} ${endpoint.path}`, ...(endpoint.also ?? [])]

const refuseClashes = (routes: readonly Route[]): void => {
  const rows = routes.flatMap(route =>
    pairs(route).map(pair => ({ id: route.id, pair: pair.replace(/\{\w+\}/g, '{}') })),
  )
  for (const [pair, same] of Map.groupBy(rows, row => row.pair))
    if (same.length > 1) throw new Error(`${pair} is claimed by ${same.map(row => row.id).join(' and ')}`)
}

/** Sorts a literal segment before a parameter in the same place, because the first match wins. */
const weight = ({ endpoint }: Route): string =>
  endpoint.path
    .split('/')
    .map(part => (part.startsWith('{') ? '~' : part))
    .join('/')

const nameOf = (id: string): string => id.replace(/[/-](\w)/g, (_, letter: string) => letter.toUpperCase())

const tableText = (
  routes: readonly Route[],
): string => `// Written by build/routes.ts. Do not edit; run \`npm run routes\`.
${routes.map(({ id }) => `import ${nameOf(id)} from './${id}.ts'`).join('\n')}
import type { Route } from '#lib/http/endpoint.ts'

export const routes = [
${routes.map(route => `  { id: '${route.id}', endpoint: ${nameOf(route.id)} }, // ${pairs(route).join(', ')}`).join('\n')}
] as const satisfies readonly Route[]
`

const routes = await Promise.all(ids.map(load))
refuseClashes(routes)
// By code unit, where `~` comes after every letter; localeCompare would put it first.
const order = (a: string, b: string): number => (a < b ? -1 : Number(a > b))
routes.sort((a, b) => order(weight(a), weight(b)) || order(a.endpoint.method, b.endpoint.method))

const provided = new Set<string>(edgeProvides)
const tables = {
  'functions/routes.gen.ts': tableText(routes),
  'functions/routes.edge.gen.ts': tableText(
    routes.filter(({ endpoint }) => endpoint.uses.every(use => provided.has(use))),
  ),
}
for (const [file, text] of Object.entries(tables)) {
  if (!process.argv.includes('--check')) writeFileSync(file, text)
  else if (readFileSync(file, 'utf8') !== text) throw new Error(`${file} is stale; run npm run routes`)
}
