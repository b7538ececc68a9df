import { execFileSync } from 'node:child_process'
import { copyFileSync, globSync, readFileSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { listLibraryPackages, readForeignPackages, resolveMetaPackage, unpackPackages } from '../debian-packages.ts'
import { collectLibraries } from '../small-linux/libraries.ts'
import { collectModules } from '../small-linux/modules.ts'
import { createNewcWriter, type NewcWriter } from '../small-linux/newc.ts'

/** What the guest drives: the disk. */
const drivers = ['ata_piix', 'sd_mod']

const findFile = (root: string, ...names: readonly string[]): string => {
  const [file] = globSync(names.map(name => join(root, name)))
  if (file === undefined) throw new Error(`the packages have no ${names[0]}`)
  return file
}

const addPrograms = (archive: NewcWriter, root: string): void => {
  const busybox = findFile(root, 'bin/busybox', 'usr/bin/busybox')
  archive.addFile('bin/busybox', readFileSync(busybox), 0o755)
  // A program for i386 also runs on the kernel for amd64.
  const applets = execFileSync(busybox, ['--list'], { encoding: 'utf8' }).trim().split('\n')
  for (const applet of applets) if (applet !== 'busybox') archive.addLink(`bin/${applet}`, 'busybox')

  const agent = readFileSync(findFile(root, 'usr/sbin/qemu-ga', 'usr/bin/qemu-ga'))
  archive.addFile('bin/qemu-ga', agent, 0o755)
  for (const { name, data } of collectLibraries(agent, root)) archive.addFile(`lib/${name}`, data, 0o755)
}

const addModules = (archive: NewcWriter, root: string): void => {
  const modules = collectModules(join(root, 'lib/modules'), drivers)
  for (const { name, data } of modules) archive.addFile(`lib/modules/${name}.ko`, data)
  archive.addFile('lib/modules/order', modules.map(({ name }) => `${name}\n`).join(''))
}

const addSettings = (archive: NewcWriter): void => {
  archive.addFile('init', readFileSync(new URL('init.sh', import.meta.url)), 0o755)
  archive.addFile('sbin/shutdown', readFileSync(new URL('../small-linux/shutdown.sh', import.meta.url)), 0o755)
  archive.addFile('etc/passwd', 'root::0:0:root:/root:/bin/sh\n')
  archive.addFile('etc/group', 'root:x:0:\n')
  archive.addFile('etc/os-release', 'ID=emulated-linux\nPRETTY_NAME="Emulated Linux 1"\nVERSION_ID="1"\n')
  for (const folder of ['dev', 'proc', 'sys', 'tmp', 'run', 'mnt', 'root', 'var']) archive.addFolder(folder)
  archive.addLink('var/run', '../run')
  archive.addDevice('dev/console', [5, 1])
}

/**
 * Writes `vmlinuz` and `initrd` of the emulated Linux into `folder`: Debian's kernel for i386 with busybox and the guest agent, from
 * its packages. It downloads 70 MB. The initial RAM disk is not compressed, which an emulated guest unpacks fastest.
 */
export const buildEmulatedLinux = async (folder: string): Promise<void> => {
  const work = await mkdtemp(join(tmpdir(), 'vmhost-linux-'))
  try {
    const root = join(work, 'root')
    const sources = await readForeignPackages('i386', join(work, 'apt'))
    const libraries = await listLibraryPackages('qemu-guest-agent', sources)
    const kernel = await resolveMetaPackage('linux-image-686', sources)
    await unpackPackages([kernel, 'busybox-static', 'qemu-guest-agent', ...libraries], root, sources)
    const archive = createNewcWriter()
    addPrograms(archive, root)
    addModules(archive, root)
    addSettings(archive)
    copyFileSync(findFile(root, 'boot/vmlinuz-*'), join(folder, 'vmlinuz'))
    writeFileSync(join(folder, 'initrd'), archive.finish())
  } finally {
    await rm(work, { recursive: true })
  }
}
