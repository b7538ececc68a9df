import type { Metafile } from 'esbuild'
import { needsControl } from '#lib/compose/hosts/host-routes.ts'
import type { Services } from '#lib/compose/services.ts'
import { hostServiceNames, needsHost } from '#lib/hosts/forward/forward-route.ts'
import type { Route } from '#lib/http/endpoint.ts'
import { chainToHost } from './import-graph.ts'

/** How a build answers an endpoint: by itself, through a host, or not at all. */
type Serving = 'own' | 'forwarded' | 'absent'

interface EndpointRow {
  readonly id: string
  readonly host: Serving
  readonly edge: Serving
  readonly executable: Serving
}

/** The endpoints of each build, and why one lacks what another has. */
export interface EndpointTable {
  readonly rows: readonly EndpointRow[]
  /** Why the edge forwards the endpoints of a service: the imports that lead from it to what only a host has. */
  readonly chains: Readonly<Record<string, readonly string[]>>
}

/** The module through which a service that only a host has reaches the host. */
const hostModules: Readonly<Partial<Record<keyof Services, string>>> = {
  machines: 'lib/compose/open-driver.ts',
  images: 'lib/images/images.ts',
  pools: 'lib/machines/machines.ts',
  snapshotSchedules: 'lib/machines/machines.ts',
  tunnels: 'lib/platform/web-sockets.ts',
  catalogCache: 'lib/transfers/cache/cache.ts',
  ssh: 'lib/compose/open-ssh.ts',
  // A license names the processors and the memory of its host.
  license: 'lib/platform/host-facts.ts',
}

const describeRoute = (route: Route): EndpointRow => {
  const host = needsControl(route) ? 'absent' : 'own'
  // The executable has the program of a host in it.
  return { id: route.id, host, edge: needsHost(route) ? 'forwarded' : 'own', executable: host }
}

/**
 * Makes the table of endpoints. Throws for a service that the edge forwards although nothing in it needs a host: then the edge can
 * have it itself.
 * @param host what is in the bundle of the host
 */
export const makeEndpointTable = (routes: readonly Route[], host: Metafile): EndpointTable => {
  const used = new Set<string>(routes.flatMap(({ endpoint: { uses } }) => uses))
  const chains = Object.entries(hostModules)
    .filter(([service]) => used.has(service))
    .map(([service, file]) => {
      const chain = chainToHost(host, file)
      if (!chain) throw new Error(`The edge forwards the endpoints of ${service}, but ${file} needs nothing of a host.`)
      return [service, chain] as const
    })
  const unexplained = hostServiceNames.filter(service => !(service in hostModules))
  if (unexplained.length > 0)
    throw new Error(`build/endpoint-table.ts does not know why ${unexplained.join(', ')} need a host.`)
  return { rows: routes.map(describeRoute), chains: Object.fromEntries(chains) }
}

const builds = ['host', 'edge', 'executable'] as const
const servings = ['own', 'forwarded', 'absent'] as const

/** How many rows a build answers in which way. */
const countServings = (rows: readonly EndpointRow[], build: (typeof builds)[number]): string =>
  servings
    .map(serving => [rows.filter(row => row[build] === serving).length, serving] as const)
    .filter(([count]) => count > 0)
    .map(([count, serving]) => `${count} ${serving}`)
    .join(', ')

/** The table as text: a line for each area, and the reasons. */
export const formatEndpointTable = ({ rows, chains }: EndpointTable): string => {
  const areas = [...Map.groupBy(rows, ({ id }) => id.split('/')[0]!), ['all', rows] as const]
  const line = (...cells: readonly string[]): string =>
    `  ${cells
      .map(cell => cell.padEnd(24))
      .join('')
      .trimEnd()}`
  return [
    line('endpoints', ...builds),
    ...areas.map(([area, own]) => line(area, ...builds.map(build => countServings(own, build)))),
    ...Object.entries(chains).map(
      ([service, chain]) => `  the edge forwards what uses ${service}: ${chain.join(' → ')}`,
    ),
    '  hosts and executables have no endpoints of hosts/*: only a control has hosts',
  ].join('\n')
}
