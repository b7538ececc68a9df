import { findProgram } from '#lib/hypervisor/qemu/programs.ts'

/** Packages of programs, by the name of Debian's. */
type Package = 'qemu' | 'passt' | 'ovmf' | 'dnsmasq' | 'nftables' | 'iproute2'

/** Returns the command that installs a package. */
export type InstallPackage = (name: Package) => string

interface PackageManager {
  /** The beginning of the command. */
  readonly install: string
  /** The names of packages that this system calls otherwise. */
  readonly names: Readonly<Partial<Record<Package, string>>>
}

const debian: PackageManager = {
  install: 'apt-get install --yes',
  names: { qemu: 'qemu-system-x86 qemu-utils', dnsmasq: 'dnsmasq-base' },
}

const managers: readonly (readonly [program: string, manager: PackageManager])[] = [
  ['apt-get', debian],
  [
    'dnf',
    {
      install: 'dnf install --assumeyes',
      names: { qemu: 'qemu-system-x86-core qemu-img', ovmf: 'edk2-ovmf', iproute2: 'iproute iproute-tc' },
    },
  ],
  ['pacman', { install: 'pacman -S --noconfirm', names: { qemu: 'qemu-system-x86 qemu-img', ovmf: 'edk2-ovmf' } }],
  ['zypper', { install: 'zypper install', names: { qemu: 'qemu-x86 qemu-tools', ovmf: 'qemu-ovmf-x86_64' } }],
  ['brew', { install: 'brew install', names: { ovmf: 'qemu' } }],
]

/** Finds the package manager of this host. On a host with none that is known, the commands are those of Debian. */
export const findPackageManager = async (): Promise<InstallPackage> => {
  let found = debian
  for (const [program, manager] of managers)
    if ((await findProgram(program)) !== undefined) {
      found = manager
      break
    }
  return name => `${found.install} ${found.names[name] ?? name}`
}
