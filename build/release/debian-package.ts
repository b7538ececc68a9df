import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { encodeAr } from './ar.ts'
import { compress, packFolder } from './pack-folder.ts'

interface Options {
  readonly version: string
  readonly architecture: 'amd64' | 'arm64'
  readonly executable: string
  readonly licenses: string
  /** An empty folder for the work. */
  readonly work: string
  /** The time of all files, in seconds since 1970. */
  readonly seconds: number
}

const formatControl = ({ version, architecture }: Options): string => `Package: vmhost
Version: ${version}
Architecture: ${architecture}
Maintainer: vmhost <vmhost@localhost>
Section: admin
Priority: optional
Depends: libc6 (>= 2.28), libstdc++6, libgcc-s1, libatomic1
Recommends: qemu-system-x86, qemu-utils, passt, ovmf, iproute2, nftables, dnsmasq-base
Description: management service for virtual machines
 Machines, a catalog of packed machines, users and events over HTTP and
 WebSocket. Install the service with: vmhost service install
`

/** An installed service gets the new program. The first installation is the operator's. */
const afterInstallation = `#!/bin/sh
set -e
if [ "$1" = configure ] && [ -n "$2" ] && [ -e /etc/systemd/system/vmhost.service ] && [ -d /run/systemd/system ]; then
  vmhost service install
fi
`

const beforeRemoval = `#!/bin/sh
set -e
if [ "$1" = remove ] && [ -e /etc/systemd/system/vmhost.service ] && [ -d /run/systemd/system ]; then
  vmhost service uninstall
fi
`

/** Makes the Debian package of an executable. */
export const createDebianPackage = (options: Options): Buffer => {
  const { executable, licenses, work, seconds } = options
  const place = (path: string): string => {
    mkdirSync(dirname(join(work, path)), { recursive: true, mode: 0o755 })
    return join(work, path)
  }
  writeFileSync(place('control/control'), formatControl(options), { mode: 0o644 })
  writeFileSync(place('control/postinst'), afterInstallation, { mode: 0o755 })
  writeFileSync(place('control/prerm'), beforeRemoval, { mode: 0o755 })
  copyFileSync(executable, place('data/usr/bin/vmhost'))
  copyFileSync(licenses, place('data/usr/share/doc/vmhost/copyright'))
  const pack = (name: string): Buffer => compress(packFolder(join(work, name), seconds))
  return encodeAr(
    [
      { name: 'debian-binary', content: Buffer.from('2.0\n') },
      { name: 'control.tar.gz', content: pack('control') },
      { name: 'data.tar.gz', content: pack('data') },
    ],
    seconds,
  )
}
