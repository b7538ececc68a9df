import { randomBytes } from 'node:crypto'
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { buildEdge, measureStart } from '#build/edge.ts'
import { buildHost } from '#build/host.ts'
import { readRoutes } from '#build/table.ts'
import { apiDescription } from '#functions/api-description.ts'
import { loadApiDescription } from '#functions/load-api-description.ts'
import { routes } from '#functions/routes.gen.ts'
import { createApiDescriptionLoader } from '#lib/compose/api-description.ts'
import type { ApiDescription } from '#lib/http/openapi.ts'
import { selectExposedRoutes } from '#lib/http/exposure.ts'

const folder = mkdtempSync(join(tmpdir(), 'vmhost-build-'))
afterAll(() => rmSync(folder, { recursive: true }))

const textBelow = (path: string): string =>
  globSync(join(path, '**/*.mjs'))
    .map(file => readFileSync(file, 'utf8'))
    .join('\n')

describe('the host bundle', () => {
  test('has only the selected endpoints in it', async () => {
    const all = await readRoutes()
    const some = selectExposedRoutes(all, { include: [], exclude: ['machines/clone', 'license/*'] })
    await buildHost(join(folder, 'all'), all)
    await buildHost(join(folder, 'some'), some)
    const [whole, part] = [textBelow(join(folder, 'all')), textBelow(join(folder, 'some'))]
    for (const marker of ['/v1/machines/{id}/clone', '/v1/hypervisor_desktop/key']) {
      expect(whole).toContain(marker)
      expect(part).not.toContain(marker)
    }
    expect(part).toContain('/v1/machines/{id}/start')
    const licenses = readFileSync(join(folder, 'some', 'LICENSES.txt'), 'utf8')
    expect(licenses).toMatch(/^v86 .*BSD-2-Clause[\s\S]*Redistribution/m)
    expect(licenses, 'the font of pictures of screens').toMatch(/^spleen\n\n.*Frederic Cambus/m)
    const table = JSON.parse(readFileSync(join(folder, 'some', 'routes.json'), 'utf8')) as { id: string }[]
    expect(table.map(row => row.id)).toEqual(some.map(route => route.id))
  })

  test('has the texts of the OpenAPI document in a file beside it, and only those of its endpoints', async () => {
    const all = await readRoutes()
    const some = selectExposedRoutes(all, { include: [], exclude: ['ssh/*'] })
    const readTexts = (name: string): Promise<ApiDescription> =>
      createApiDescriptionLoader(async file => readFileSync(join(folder, name, file), 'utf8'))()
    await buildHost(join(folder, 'texts'), all)
    expect(await readTexts('texts')).toEqual(await loadApiDescription())
    const code = textBelow(join(folder, 'texts'))
    expect(code).not.toContain(apiDescription.areas['ssh'])
    expect(code).not.toContain(apiDescription.glossary['created_at'])
    expect(code).not.toContain('-----BEGIN OPENSSH PRIVATE KEY-----…')
    await buildHost(join(folder, 'texts-of-some'), some)
    const { areas, examples } = await readTexts('texts-of-some')
    expect(Object.keys(areas)).not.toContain('ssh')
    expect(Object.keys(examples)).not.toContain('ssh/execute')
    await expect(readTexts('nowhere')).rejects.toThrow(
      'The texts of the OpenAPI document cannot be read; install vmhost',
    )
  })

  test('stays under 1040 KB without what is loaded on demand', async () => {
    const { outputs } = await buildHost(join(folder, 'size'), await readRoutes())
    // What every start loads: the program with its command line and the service, and what these import at once.
    const begun = Object.keys(outputs).filter(file =>
      Object.keys(outputs[file]!.inputs).some(input => /^lib\/entry\/(main|cli|serve|host)\.ts$/.test(input)),
    )
    const always = new Set(begun)
    for (const file of always)
      for (const { path, kind } of outputs[file]!.imports)
        if (kind === 'import-statement' && path in outputs) always.add(path)
    expect([...always].reduce((sum, file) => sum + outputs[file]!.bytes, 0)).toBeLessThan(1040 * 1024)
    const inputs = [...always].flatMap(file => Object.keys(outputs[file]!.inputs))
    expect(inputs).toContain('lib/http/app.ts')
    for (const onDemand of ['v86', '@peculiar', 'ssh2', '@clack', 're2js', 'htmlparser2'])
      expect(inputs.filter(file => file.includes(`node_modules/${onDemand}/`))).toEqual([])
  })
})

describe('the edge bundle', () => {
  test('is refused when an endpoint reaches the host, with the chain that leads there', async () => {
    const reaching = join(folder, 'reaching.ts')
    const files = join(process.cwd(), 'lib/platform/processes.ts')
    writeFileSync(join(folder, 'between.ts'), `export { runProcess } from ${JSON.stringify(files)}\n`)
    writeFileSync(reaching, "export { runProcess } from './between.ts'\n")
    await expect(buildEdge(join(folder, 'reaching/edge.mjs'), [], { entry: reaching })).rejects.toThrow(
      /reaching\.ts\n {2}→ .*between\.ts\n {2}→ lib\/platform\/processes\.ts\n {2}→ node:child_process/,
    )
  })

  test('is refused when it loads too much at a start', async () => {
    const large = join(folder, 'large.ts')
    writeFileSync(large, `export default ${JSON.stringify(randomBytes(450_000).toString('base64'))}\n`)
    await expect(buildEdge(join(folder, 'large/edge.mjs'), [], { entry: large })).rejects.toThrow(
      /loads 600\d{3} bytes at a start/,
    )
  })

  test('has every endpoint, and loads less at a start than all that it has', async () => {
    const file = join(folder, 'good/edge.mjs')
    const metafile = await buildEdge(file, routes)
    const total = Object.values(metafile.outputs).reduce((sum, { bytes }) => sum + bytes, 0)
    const { minified, gzip } = measureStart(metafile, file)
    expect(minified).toBeLessThan(600_000)
    expect(gzip).toBeLessThan(200_000)
    expect(minified).toBeLessThan(total)
    for (const { id } of routes) expect(Object.keys(metafile.inputs)).toContain(`functions/${id}.ts`)
  })
})
