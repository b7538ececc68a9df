import { execFileSync } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'

/** What the small Linux drives: every bus, card and file system that a machine can have, also added while it runs. */
const wantedModules = [
  ...['button', 'evdev', 'virtio_pci', 'virtio_console', 'virtio_net', 'e1000'],
  ...['virtio_blk', 'virtio_scsi', 'ata_piix', 'ahci', 'sd_mod', 'sr_mod'],
  ...['virtio_balloon', 'virtio_rng', 'qemu_fw_cfg'],
  ...['ext4', 'crc32c_generic', 'isofs', 'vfat', 'nls_ascii', 'nls_cp437', 'nls_iso8859_1', 'nls_utf8'],
  ...['9p', '9pnet_virtio', 'virtiofs', 'af_packet'],
]

export interface Module {
  readonly name: string
  readonly data: Uint8Array
}

const read = (file: string): Uint8Array =>
  file.endsWith('.xz') ? execFileSync('xz', ['-dc', file], { maxBuffer: 2 ** 26 }) : readFileSync(file)

const signatureMark = '~Module signature appended~\n'

/**
 * Removes the signature of a module, whose check takes a translated processor longer than the rest of loading it. Twelve bytes
 * before the mark say how long the signature is (`struct module_signature` of Linux).
 */
const removeSignature = (data: Uint8Array): Uint8Array => {
  const bytes = Buffer.from(data)
  if (!bytes.subarray(-signatureMark.length).equals(Buffer.from(signatureMark))) return data
  const end = bytes.length - signatureMark.length - 12
  return bytes.subarray(0, end - bytes.readUInt32BE(end + 8))
}

/** Modules name themselves with _ and their files with _ or -. */
const normalName = (name: string): string => name.replaceAll('-', '_')

/**
 * Returns the wanted modules of the kernel below `folder`, each after those that it depends on. A module names these itself;
 * the list `modules.dep` is only written where the package is installed. What is built into the kernel is left out.
 */
export const collectModules = (folder: string, wanted: readonly string[] = wantedModules): readonly Module[] => {
  const files = globSync(join(folder, '**/*.ko{,.xz}'))
  const byName = new Map(files.map(file => [normalName(basename(file).replace(/\.ko.*$/, '')), file]))
  const modules = new Map<string, Module>()
  const add = (name: string): void => {
    const file = byName.get(name)
    if (file === undefined || modules.has(name)) return
    const data = removeSignature(read(file))
    const dependencies = /\0depends=([^\0]*)\0/.exec(Buffer.from(data).toString('latin1'))?.[1] ?? ''
    for (const dependency of dependencies.split(',')) add(normalName(dependency))
    modules.set(name, { name, data })
  }
  for (const name of wanted) add(name)
  return [...modules.values()]
}
