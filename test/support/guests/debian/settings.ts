import { execFileSync } from 'node:child_process'
import { readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const files: Readonly<Record<string, string>> = {
  'boot/grub/grub.cfg': 'linux /vmlinuz root=LABEL=root console=ttyS0 quiet\ninitrd /initrd.img\nboot\n',
  'etc/fstab': 'LABEL=root / ext4 defaults 0 0\n',
  'etc/systemd/network/80-dhcp.network': '[Match]\nName=en* eth*\n[Network]\nDHCP=ipv4\n',
  // The modules that a machine needs; the others of Debian take minutes in a translated guest. JSON is a part of YAML.
  'etc/cloud/cloud.cfg.d/90_local.cfg': JSON.stringify({
    ssh_genkeytypes: ['ed25519'],
    manage_etc_hosts: true,
    cloud_init_modules: [
      'write-files',
      'growpart',
      'resizefs',
      'set_hostname',
      'update_etc_hosts',
      'users-groups',
      'ssh',
    ],
    cloud_config_modules: ['set-passwords', 'runcmd'],
    cloud_final_modules: ['scripts-user', 'final-message'],
  }),
  'etc/hostname': 'debian\n',
  // Each machine gets an id of its own.
  'etc/machine-id': '',
}

const services = ['systemd-networkd', 'serial-getty@ttyS0']
const unwanted = [
  ...['apt-daily.timer', 'apt-daily-upgrade.timer', 'dpkg-db-backup.timer', 'e2scrub_all.timer', 'fstrim.timer'],
  ...['e2scrub_reap.service', 'systemd-binfmt.service', 'systemd-networkd-wait-online.service'],
]

/** Makes an installed Debian in `root` one that boots on any machine and is configured there by cloud-init. */
export const writeSettings = (root: string): void => {
  const run = (...command: readonly string[]): void =>
    void execFileSync('chroot', [root, ...command], { stdio: 'ignore' })
  run('mkdir', '-p', '/boot/grub')
  for (const [name, text] of Object.entries(files)) writeFileSync(join(root, name), text)
  run('systemctl', 'enable', ...services)
  run('systemctl', 'mask', ...unwanted)
  run('systemctl', 'set-default', 'multi-user.target')
  const keys = readdirSync(join(root, 'etc/ssh')).filter(name => name.startsWith('ssh_host_'))
  for (const name of keys) rmSync(join(root, 'etc/ssh', name))
}
