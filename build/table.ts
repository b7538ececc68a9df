import { globSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import type { Endpoint, Route } from '#lib/http/endpoint.ts'
import type { Exposure } from '#lib/http/exposure.ts'

const load = async (id: string): Promise<Route> => {
  // An endpoint's file exports an endpoint; the check below refuses any other.
  const module = (await import(pathToFileURL(`functions/${id}.ts`).href)) as { default?: Endpoint }
  if (!module.default?.access)
    throw new Error(`functions/${id}.ts must export default endpoint({ …, access, … }).handle(…)`)
  return { id, endpoint: module.default }
}

/** Every method and path that reaches a route. */
export const pairsOf = ({ endpoint }: Route): string[] => [
  `${endpoint.method} ${endpoint.path}`,
  ...(endpoint.also ?? []),
]

const refuseClashes = (routes: readonly Route[]): void => {
  const rows = routes.flatMap(route =>
    pairsOf(route).map(pair => ({ id: route.id, pair: pair.replace(/\{\w+\}/g, '{}') })),
  )
  for (const [pair, same] of Map.groupBy(rows, row => row.pair))
    if (same.length > 1) throw new Error(`${pair} is claimed by ${same.map(row => row.id).join(' and ')}`)
}

/** Sorts a literal segment before a parameter in the same place, because the first match wins. */
const weight = ({ endpoint }: Route): string => endpoint.path.replace(/\{\w+\}/g, '~')

// By code unit, where `~` comes after every letter; localeCompare would put it first.
const order = (a: string, b: string): number => (a < b ? -1 : Number(a > b))

/** The endpoints of all files under functions/, in the order in which they are matched. Throws on a clash. */
export const readRoutes = async (): Promise<readonly Route[]> => {
  const ids = globSync('functions/*/*.ts').map(file => file.slice('functions/'.length, -'.ts'.length))
  const routes = await Promise.all(ids.map(load))
  refuseClashes(routes)
  return routes.sort((a, b) => order(weight(a), weight(b)) || order(a.endpoint.method, b.endpoint.method))
}

const nameOf = (id: string): string => id.replace(/[/-](\w)/g, (_, letter: string) => letter.toUpperCase())

const exposureText = ({ include, exclude }: Exposure): string => `
/** The selection that this table is of all endpoints. */
export const builtFor: Exposure = { include: ${JSON.stringify(include)}, exclude: ${JSON.stringify(exclude)} }
`

/** A routing table as the text of a TypeScript module below functions/. With `builtFor` the module says which selection it is. */
export const tableText = (
  routes: readonly Route[],
  builtFor?: Exposure,
): string => `// Written by build/routes.ts. Do not edit; run \`npm run routes\`.
${routes.map(({ id }) => `import ${nameOf(id)} from './${id}.ts'`).join('\n')}
import type { Route } from '#lib/http/endpoint.ts'
${builtFor ? "import type { Exposure } from '#lib/http/exposure.ts'\n" : ''}${builtFor ? exposureText(builtFor) : ''}
export const routes = [
${routes.map(route => `  { id: '${route.id}', endpoint: ${nameOf(route.id)} }, // ${pairsOf(route).join(', ')}`).join('\n')}
] as const satisfies readonly Route[]
`
