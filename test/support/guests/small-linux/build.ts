import { execFileSync } from 'node:child_process'
import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { listLibraryPackages, resolveMetaPackage, unpackPackages } from '../debian-packages.ts'
import { collectLibraries } from './libraries.ts'
import { collectModules } from './modules.ts'
import { createNewcWriter, type NewcWriter } from './newc.ts'

/** Where a merged and an older package put a program. */
const findFile = (root: string, ...names: readonly string[]): string => {
  const [file] = globSync(names.map(name => join(root, name)))
  if (file === undefined) throw new Error(`the packages have no ${names[0]}`)
  return file
}

const addScript = (archive: NewcWriter, name: string, script: string): void =>
  archive.addFile(name, readFileSync(new URL(script, import.meta.url)), 0o755)

const addPrograms = (archive: NewcWriter, root: string): void => {
  const busybox = findFile(root, 'bin/busybox', 'usr/bin/busybox')
  archive.addFile('bin/busybox', readFileSync(busybox), 0o755)
  const applets = execFileSync(busybox, ['--list'], { encoding: 'utf8' }).trim().split('\n')
  for (const applet of applets) if (applet !== 'busybox') archive.addLink(`bin/${applet}`, 'busybox')

  const agent = readFileSync(findFile(root, 'usr/sbin/qemu-ga', 'usr/bin/qemu-ga'))
  archive.addFile('bin/qemu-ga', agent, 0o755)
  for (const { name, data } of collectLibraries(agent, root))
    archive.addFile(`lib/x86_64-linux-gnu/${name}`, data, 0o755)
  archive.addLink('lib64', 'lib/x86_64-linux-gnu')
}

const addModules = (archive: NewcWriter, root: string): void => {
  const modules = collectModules(join(root, 'lib/modules'))
  for (const { name, data } of modules) archive.addFile(`lib/modules/${name}.ko`, data)
  archive.addFile('lib/modules/order', modules.map(({ name }) => `${name}\n`).join(''))
}

const addSettings = (archive: NewcWriter): void => {
  addScript(archive, 'init', 'init.sh')
  addScript(archive, 'etc/address.sh', 'address.sh')
  addScript(archive, 'etc/acpi/power', 'power.sh')
  // Events reach acpid from the input device, or as numbers where the kernel has the old interface.
  addScript(archive, 'etc/acpi/PWRF/00000080', 'power.sh')
  addScript(archive, 'sbin/shutdown', 'shutdown.sh')
  archive.addFile('etc/acpi.map', 'EV_KEY 0x01 KEY_POWER 116 1 power\n')
  archive.addFile('etc/passwd', 'root::0:0:root:/root:/bin/sh\n')
  archive.addFile('etc/group', 'root:x:0:\n')
  archive.addFile('etc/os-release', 'ID=small-linux\nNAME="Small Linux"\nPRETTY_NAME="Small Linux 1"\nVERSION_ID="1"\n')
  archive.addFile('www/index.html', 'small linux\n')
  for (const folder of ['dev', 'proc', 'sys', 'tmp', 'run', 'mnt', 'root', 'var']) archive.addFolder(folder)
  archive.addLink('var/run', '../run')
  archive.addDevice('dev/console', [5, 1])
}

/**
 * Returns the kernel itself out of its self-extracting image, of which the header says where it is (kernel documentation: The
 * Linux/x86 Boot Protocol). QEMU enters it directly, which saves the 5 s that a translated guest takes to unpack it.
 */
const unpackKernel = (image: Buffer): Buffer => {
  const setupSize = (image.readUInt8(0x1f1) + 1) * 512
  const start = setupSize + image.readUInt32LE(0x248)
  // The last four bytes are the unpacked size.
  const payload = image.subarray(start, start + image.readUInt32LE(0x24c) - 4)
  return execFileSync('xz', ['-dc'], { input: payload, maxBuffer: 2 ** 28 })
}

/**
 * Writes `vmlinux`, `vmlinuz` and `initrd` of the small Linux into `folder`: Debian's kernel with busybox and the guest agent, from its
 * packages. It takes 15 s and 80 MB of downloads. The kernel is not the one for clouds, which has no e1000, AHCI, 9p or vmgenid.
 */
export const buildSmallLinux = async (folder: string): Promise<void> => {
  const root = await mkdtemp(join(tmpdir(), 'vmhost-linux-'))
  try {
    const libraries = await listLibraryPackages('qemu-guest-agent')
    const kernel = await resolveMetaPackage('linux-image-amd64')
    await unpackPackages([kernel, 'busybox-static', 'qemu-guest-agent', ...libraries], root)
    const archive = createNewcWriter()
    addPrograms(archive, root)
    addModules(archive, root)
    addSettings(archive)
    const image = readFileSync(findFile(root, 'boot/vmlinuz-*'))
    writeFileSync(join(folder, 'vmlinuz'), image)
    writeFileSync(join(folder, 'vmlinux'), unpackKernel(image))
    writeFileSync(join(folder, 'initrd'), gzipSync(archive.finish(), { level: 6 }))
  } finally {
    await rm(root, { recursive: true })
  }
}
