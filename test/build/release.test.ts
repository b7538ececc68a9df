import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createContainerImage } from '#build/release/container-image.ts'
import { createDebianPackage } from '#build/release/debian-package.ts'
import { findProgram } from '#lib/hypervisor/qemu/programs.ts'
import { newFolder } from '../support/folder.ts'

/** A small program in the place of the executable, which loads libraries as that does. */
const executable = '/bin/cat'
const facts = { version: '1.2.3', architecture: 'amd64', executable, seconds: 1_700_000_000 } as const
const isLinux = process.platform === 'linux'
const isRoot = process.getuid?.() === 0
const hasDpkg = (await findProgram('dpkg-deb')) !== undefined

const run = (program: string, ...args: readonly string[]): string => execFileSync(program, args, { encoding: 'utf8' })

test.runIf(isLinux && hasDpkg)('dpkg reads and unpacks the Debian package, which is the same each time', () => {
  using folder = newFolder()
  const licenses = join(folder.path, 'licenses.txt')
  writeFileSync(licenses, 'MIT')
  const [one, other] = ['one', 'other'].map(name =>
    createDebianPackage({ ...facts, licenses, work: join(folder.path, name) }),
  )
  expect(one!.equals(other!)).toBe(true)
  const file = join(folder.path, 'vmhost.deb')
  writeFileSync(file, one!)
  expect(run('dpkg-deb', '--field', file, 'Package', 'Version', 'Architecture')).toBe(
    'Package: vmhost\nVersion: 1.2.3\nArchitecture: amd64\n',
  )
  const root = join(folder.path, 'root')
  run('dpkg-deb', '--extract', file, root)
  expect(run(join(root, 'usr/bin/vmhost'), join(root, 'usr/share/doc/vmhost/copyright'))).toBe('MIT')
})

interface Descriptor {
  readonly digest: string
}

test.runIf(isLinux)(
  'the container image is an OCI layout, and its program starts with nothing else in its root',
  () => {
    using folder = newFolder()
    const file = join(folder.path, 'image.tar')
    writeFileSync(file, createContainerImage({ ...facts, work: join(folder.path, 'work') }))
    const [layout, root] = [join(folder.path, 'layout'), join(folder.path, 'root')]
    for (const path of [layout, root]) mkdirSync(path)
    run('tar', '--extract', '--file', file, '--directory', layout)
    const readJson = (name: string) => JSON.parse(readFileSync(join(layout, name), 'utf8'))
    const blobOf = ({ digest }: Descriptor): string => `blobs/${digest.replace(':', '/')}`
    expect(readJson('oci-layout')).toEqual({ imageLayoutVersion: '1.0.0' })
    const { config, layers } = readJson(blobOf(readJson('index.json').manifests[0]))
    expect(readJson(blobOf(config)).config).toMatchObject({ Entrypoint: ['/usr/bin/vmhost'], Cmd: ['serve'] })
    run('tar', '--extract', '--gzip', '--file', join(layout, blobOf(layers[0])), '--directory', root)
    expect(readFileSync(join(root, 'etc/passwd'), 'utf8')).toContain('vmhost:x:990')
    // Only root can change its root folder.
    if (isRoot) expect(run('chroot', root, '/usr/bin/vmhost', '/etc/group')).toBe('root:x:0:\nvmhost:x:990:\n')
  },
)
