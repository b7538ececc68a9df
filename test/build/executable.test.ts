import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { writeBillOfMaterials } from '#build/executable/bill-of-materials.ts'
import { bundleExecutable, type ExecutableBundle } from '#build/executable/bundle.ts'
import { readMachO } from '#build/executable/mach-o.ts'
import { assertIntegrity } from '#build/executable/node.ts'
import { findTarget } from '#build/executable/targets.ts'
import { buildHost } from '#build/host.ts'
import { readRoutes } from '#build/table.ts'
import { needsControl } from '#lib/compose/hosts/host-routes.ts'
import { newFolder } from '../support/folder.ts'

const routes = (await readRoutes()).filter(route => !needsControl(route))

/** The text of all assets whose names match. */
const textOf = (assets: ExecutableBundle['assets'], pattern: RegExp): string =>
  Object.entries(assets)
    .flatMap(([name, content]) => (pattern.test(name) ? [String(content)] : []))
    .join('\n')

/** A Mach-O file with these load commands: their numbers, and the names of segments. */
const createMachO = (commands: readonly (readonly [number, string?])[]): Buffer => {
  const header = Buffer.alloc(32)
  header.writeUInt32LE(0xfeedfacf, 0)
  header.writeUInt32LE(0x0100000c, 4)
  header.writeUInt32LE(commands.length, 16)
  const rest = commands.map(([number, name = '']) => {
    const command = Buffer.alloc(24)
    command.writeUInt32LE(number, 0)
    command.writeUInt32LE(command.length, 4)
    command.write(name, 8, 'latin1')
    return command
  })
  return Buffer.concat([header, ...rest])
}

describe('the code of the executable', () => {
  test('and that of the bundle do not contain each other', async () => {
    using folder = newFolder()
    const inExecutable = Object.keys((await bundleExecutable(routes)).metafile.inputs)
    const inBundle = Object.keys((await buildHost(folder.path, routes)).inputs)
    expect(inExecutable).toEqual(expect.arrayContaining(['lib/entry/executable-parts.ts', 'lib/entry/events.ts']))
    expect(inBundle).toEqual(expect.arrayContaining(['lib/entry/parts-beside.ts', 'lib/entry/events.ts']))
    expect(inExecutable.filter(file => /^lib\/entry\/(main|parts-beside)\.ts$/.test(file))).toEqual([])
    expect(inBundle.filter(file => file.startsWith('lib/entry/executable'))).toEqual([])
  })

  test('loads no file from outside the executable', async () => {
    const { assets } = await bundleExecutable(routes)
    // Only names of modules of Node are there, and `require` of the bundle has only those.
    const code = textOf(assets, /\.mjs$/)
    expect(code).toContain('process.getBuiltinModule(')
    expect(code).not.toContain('createRequire(')
    for (const name of ['cpu-features', './crypto/build/Release/sshcrypto.node'])
      expect(code).toContain(`${name} is not part of this program`)
    expect(
      Object.keys(assets)
        .filter(name => !name.startsWith('chunks/'))
        .sort(),
    ).toEqual([
      'api-description.json',
      'events.js',
      'program.mjs',
      'recorder.js',
      'v86.wasm',
      'version',
      'web-console.json',
      'worker.cjs',
    ])
  })

  test('excludes endpoints that were not selected', async () => {
    const some = routes.filter(({ id }) => id !== 'machines/clone')
    const { assets } = await bundleExecutable(some)
    const code = textOf(assets, /\.mjs$/)
    expect(code).toContain('/v1/machines/{id}/start')
    expect(code).not.toContain('/v1/machines/{id}/clone')
  })
})

describe('the bill of materials of the executable', async () => {
  const { metafile } = await bundleExecutable(routes)
  const write = (): string =>
    writeBillOfMaterials({
      version: '1.2.3',
      metafile,
      nodeVersion: '26.1.0',
      nodeLibraries: { node: '26.1.0', zlib: '1.3' },
    })
  const bill = JSON.parse(write())

  test('has the form of CycloneDX 1.6', () => {
    expect(bill).toMatchObject({ bomFormat: 'CycloneDX', specVersion: '1.6', version: 1 })
    expect(bill.serialNumber).toMatch(/^urn:uuid:[\da-f]{8}-[\da-f]{4}-8[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/)
    expect(bill.metadata.component).toMatchObject({ type: 'application', name: 'vmhost', version: '1.2.3' })
    for (const component of bill.components) {
      expect(component).toMatchObject({ name: expect.any(String), version: expect.any(String) })
      expect(component.purl).toMatch(/^pkg:(npm|generic)\/(%40[\w.-]+\/)?[\w.-]+@[\w.+-]+$/)
      for (const license of component.licenses)
        expect(license.expression ?? license.license.id).toMatch(/^[\w.+-]+( (OR|AND|WITH) [\w.+-]+)*$|^\(.*\)$/)
    }
  })

  test('names each component once, and only these as dependencies', () => {
    const refs: string[] = [bill.metadata.component, ...bill.components].map(component => component['bom-ref'])
    expect(new Set(refs).size).toBe(refs.length)
    expect(bill.dependencies.map(({ ref }: { ref: string }) => ref).sort()).toEqual([...refs].sort())
    for (const { dependsOn } of bill.dependencies) expect(refs).toEqual(expect.arrayContaining(dependsOn))
  })

  test('contains Node with its libraries, the packages of the main thread and of worker threads', () => {
    const names = bill.components.map(({ name }: { name: string }) => name)
    expect(names).toEqual(expect.arrayContaining(['node', 'hono', 'zod', 'v86', 'bcryptjs', 'ssh2']))
    expect(bill.components[0]).toMatchObject({ name: 'node', components: [{ name: 'zlib', version: '1.3' }] })
    expect(names).not.toContain('vitest')
  })

  test('is the same text for the same content', () => {
    expect(write()).toBe(write())
  })
})

test('a package that is not the locked one is refused', () => {
  using folder = newFolder()
  const file = join(folder.path, 'node.tgz')
  writeFileSync(file, 'hello')
  const integrity = 'sha256-LPJNul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ='
  expect(() => assertIntegrity(file, integrity)).not.toThrow()
  writeFileSync(file, 'hallo')
  expect(() => assertIntegrity(file, integrity)).toThrow('not the package that package-lock.json names')
})

test('a platform without an executable is refused, with those that have one', () => {
  expect(() => findTarget('win32-x64')).toThrow(/win32-x64, only for linux-x64, linux-arm64, darwin-arm64/)
})

test('a signature and the segments of a program for macOS are found', () => {
  const segments: [number, string][] = [
    [0x19, '__TEXT'],
    [0x19, 'NODE_SEA'],
  ]
  expect(readMachO(createMachO(segments))).toEqual({ isArm64: true, segments: ['__TEXT', 'NODE_SEA'], isSigned: false })
  expect(readMachO(createMachO([...segments, [0x1d]]))).toMatchObject({ isSigned: true })
  expect(() => readMachO(Buffer.alloc(64))).toThrow('not a 64-bit Mach-O')
})
