import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { writeBootDisk } from './boot-disk.ts'
import { writeSettings } from './settings.ts'

const execute = promisify(execFile)

const packages = [
  ...['usr-is-merged', 'apt', 'systemd-sysv', 'udev', 'dbus', 'iproute2', 'procps', 'kmod', 'sudo'],
  ...['openssh-server', 'cloud-init', 'cloud-guest-utils', 'e2fsprogs', 'fdisk', 'qemu-guest-agent'],
  ...['linux-image-cloud-amd64', 'initramfs-tools', 'grub-pc-bin', 'grub-common'],
  // What the package of the service depends on.
  ...['libstdc++6', 'libatomic1'],
]
/** What nobody reads in a guest of tests is not unpacked. */
const excluded = ['doc', 'man', 'locale'].map(name => `--dpkgopt=path-exclude=/usr/share/${name}/*`)
/**
 * The initial RAM disk has the drivers of the disk and of the CD-ROM, and no others: cloud-init looks for its CD-ROM as the first
 * thing after it.
 */
const initramfs = String.raw`
  mkdir -p "$1/etc/initramfs-tools/conf.d"
  printf 'MODULES=list\nCOMPRESS=gzip\n' >"$1/etc/initramfs-tools/conf.d/local"
  printf 'virtio_pci\nvirtio_blk\nvirtio_scsi\nata_piix\nsd_mod\nsr_mod\n' >"$1/etc/initramfs-tools/modules"
`

/**
 * Writes `disk.qcow2` into `folder`: a Debian 12 with its kernel for clouds, systemd, cloud-init, OpenSSH and the guest agent,
 * installed by mmdebstrap of Debian's packages. It needs root, and about a minute of CPU time.
 */
export const buildDebian = async (folder: string): Promise<void> => {
  const work = await mkdtemp(join(tmpdir(), 'vmhost-debian-'))
  const root = join(work, 'root')
  try {
    await execute(
      'mmdebstrap',
      [
        ...['--quiet', '--mode=root', '--variant=essential', '--format=directory', `--include=${packages.join(',')}`],
        '--hook-dir=/usr/share/mmdebstrap/hooks/merged-usr',
        ...['--aptopt=APT::Install-Recommends "false"', '--dpkgopt=force-unsafe-io', ...excluded],
        ...[`--essential-hook=${initramfs}`, 'bookworm', root],
      ],
      { maxBuffer: 2 ** 24 },
    )
    writeSettings(root)
    const disk = join(work, 'disk.img')
    writeBootDisk(disk, root, 1200 * 2 ** 20)
    await execute('qemu-img', ['convert', '-O', 'qcow2', disk, join(folder, 'disk.qcow2')])
  } finally {
    await rm(work, { recursive: true })
  }
}
