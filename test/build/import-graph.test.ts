import { build, type Metafile } from 'esbuild'
import { describe, expect, test } from 'vitest'
import { edgeBuildOptions } from '#build/edge.ts'
import { chainToHost } from '#build/import-graph.ts'

const imported = (path: string) => ({ path, kind: 'import-statement', external: true }) as const
const graphOf = (imports: Readonly<Record<string, readonly string[]>>): Metafile => ({
  inputs: Object.fromEntries(
    Object.entries(imports).map(([file, paths]) => [file, { bytes: 0, imports: paths.map(imported) }]),
  ),
  outputs: {},
})

describe('the chain of imports to what only a host has', () => {
  const graph = graphOf({ a: ['b', 'c'], b: ['c'], c: ['d', 'node:path'], d: ['node:fs/promises'], e: ['node:crypto'] })

  test('is the shortest one', () => {
    expect(chainToHost(graph, 'a')).toEqual(['a', 'c', 'd', 'node:fs/promises'])
    expect(chainToHost(graph, 'e')).toBeUndefined()
  })

  test('is not asked of a file that is not in the bundle', () => {
    expect(() => chainToHost(graph, 'other')).toThrow('other is not in the bundle')
  })

  test.for(['node:child_process', 'node:worker_threads', 'node:sqlite', 'node:tls', 'x/node_modules/ws/lib/a.js'])(
    'ends at %s',
    module => {
      expect(chainToHost(graphOf({ a: [module] }), 'a')).toEqual(['a', module])
    },
  )

  test.for([
    ["import { isIP } from 'node:net'", true],
    ["import { BlockList, isIP as isAddress } from 'node:net'", true],
    ["import {\n  isIPv4,\n  isIPv6,\n} from 'node:net'", true],
    ["import { isIP } from 'node:net'\nimport { connect } from 'node:net'", false],
    ["import { isIP, type Socket } from 'node:net'", true],
    ["import type { Socket } from 'node:net'\nimport { isIP } from 'node:net'", true],
    ["import net from 'node:net'", false],
    ["import * as net from 'node:net'", false],
    ["import net, { isIP } from 'node:net'", false],
    ["import { isIP } from 'node:net'\nconst { connect } = await import('node:net')", false],
    ["export { connect } from 'node:net'", false],
    ["const net = require('net')", false],
  ] as const)('judges node:net by the imported names: %s', ([source, allowed]) => {
    const chain = chainToHost(graphOf({ a: ['node:net'] }), 'a', () => source)
    expect(chain).toEqual(allowed ? undefined : ['a', 'node:net'])
  })
})

describe('the services of a program without files, processes and threads', () => {
  const services = [
    'lib/audit/audit.ts',
    'lib/audit/http-audit.ts',
    'lib/auth/identity.ts',
    'lib/auth/password-hashes.ts',
    'lib/auth/key-keepers/stored-keys.ts',
    'lib/calls/list-filter.ts',
    'lib/catalog/catalog.ts',
    'lib/compose/gauges.ts',
    'lib/compose/public-services.ts',
    'lib/compose/state-parts.ts',
    'lib/compose/state-services.ts',
    'lib/events/events.ts',
    'lib/events/hub.ts',
    'lib/events/stream.ts',
    'lib/events/subscriptions.ts',
    'lib/health/health.ts',
    'lib/http/app.ts',
    'lib/idempotency/idempotency.ts',
    'lib/jobs/jobs.ts',
    'lib/license/license.ts',
    'lib/metrics/metrics.ts',
    'lib/objects/remote-kinds.ts',
    'lib/objects/storages.ts',
    'lib/platform/client-address.ts',
    'lib/platform/log.ts',
    'lib/platform/outgoing-addresses.ts',
    'lib/remote-catalogs/managers/manager-services.ts',
    'lib/remote-catalogs/managers/records.ts',
    'lib/storage/create-store.ts',
    'lib/user-configs/user-configs.ts',
  ]

  test('reach nothing that only a host has', async () => {
    const options = { ...edgeBuildOptions, entryPoints: services, outdir: 'nowhere', write: false } as const
    const { metafile } = await build(options)
    const chains = services.flatMap(from => chainToHost(metafile, from)?.join(' → ') ?? [])
    expect(chains).toEqual([])
  })
})
