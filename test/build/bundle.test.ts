import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { buildEdge } from '#build/edge.ts'
import { buildHost } from '#build/host.ts'
import { readRoutes } from '#build/table.ts'
import { exposedRoutes } from '#lib/http/exposure.ts'

const folder = mkdtempSync(join(tmpdir(), 'vmhost-build-'))
afterAll(() => rmSync(folder, { recursive: true }))

const textBelow = (path: string): string =>
  globSync(join(path, '**/*.mjs'))
    .map(file => readFileSync(file, 'utf8'))
    .join('\n')

describe('the host bundle', () => {
  test('has only the selected endpoints in it', async () => {
    const all = await readRoutes()
    const some = exposedRoutes(all, { include: [], exclude: ['machines/clone', 'license/*'] })
    await buildHost(join(folder, 'all'), all)
    await buildHost(join(folder, 'some'), some)
    const [whole, part] = [textBelow(join(folder, 'all')), textBelow(join(folder, 'some'))]
    for (const marker of ['/v1/machines/{id}/clone', '/v1/hypervisor_desktop/key']) {
      expect(whole).toContain(marker)
      expect(part).not.toContain(marker)
    }
    expect(part).toContain('/v1/machines/{id}/start')
    expect(readFileSync(join(folder, 'some', 'LICENSES.txt'), 'utf8')).toMatch(
      /^v86 .*BSD-2-Clause[\s\S]*Redistribution/m,
    )
    const table = JSON.parse(readFileSync(join(folder, 'some', 'routes.json'), 'utf8')) as { id: string }[]
    expect(table.map(row => row.id)).toEqual(some.map(route => route.id))
  })

  test('stays under 900 KB without what is loaded on demand', async () => {
    const { outputs } = await buildHost(join(folder, 'size'), await readRoutes())
    // Chunks of their own: the emulator, the maker of certificates, SSH, what asks for passwords, filters, Azure.
    const lazy = /node_modules\/(v86|@peculiar|reflect-metadata|ssh2|@clack|re2js|@azure|apache-arrow)\//
    const [onDemand, always] = [true, false].map(wanted =>
      Object.values(outputs).filter(({ inputs }) => Object.keys(inputs).some(file => lazy.test(file)) === wanted),
    )
    expect(always!.reduce((sum, { bytes }) => sum + bytes, 0)).toBeLessThan(900 * 1024)
    expect(onDemand!.length).toBeGreaterThanOrEqual(4)
  })
})

describe('the edge bundle', () => {
  test('is refused when an endpoint reaches the host, with the chain that leads there', async () => {
    const reaching = join(folder, 'reaching.ts')
    const files = join(process.cwd(), 'lib/platform/processes.ts')
    writeFileSync(join(folder, 'between.ts'), `export { runProcess } from ${JSON.stringify(files)}\n`)
    writeFileSync(reaching, "export { runProcess } from './between.ts'\n")
    await expect(buildEdge(join(folder, 'edge.mjs'), [], reaching)).rejects.toThrow(
      /reaching\.ts\n {2}→ .*between\.ts\n {2}→ lib\/platform\/processes\.ts\n {2}→ node:child_process/,
    )
  })

  test('stays under 200 KB', async () => {
    const { outputs } = await buildEdge(join(folder, 'good.mjs'), [])
    const total = Object.values(outputs).reduce((sum, { bytes }) => sum + bytes, 0)
    expect(total).toBeLessThan(200 * 1024)
  })
})
