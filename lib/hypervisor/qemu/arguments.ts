import type { Definition } from '../definition.ts'

/** Names of what a QEMU uses in its machine's folder, which is its working folder. */
export const files = {
  pid: 'run/pid',
  control: 'run/qmp.sock',
  /** A second control socket, for people and their tools: each socket serves one client. */
  spareControl: 'run/qmp2.sock',
  serial: 'run/serial.sock',
  serialLog: 'serial.log',
  output: 'run/qemu.log',
  state: 'state.mem',
  newState: 'state.mem.new',
  fullState: 'state.mem.full',
} as const

export type Accelerator = 'tcg' | 'kvm' | 'hvf'

/** The IDE controller of the machine type `pc` takes this many disks; guests of all ages can boot from them. */
const ideDisks = 4

/** In QEMU's option strings a comma ends a value, unless it is doubled. */
const escape = (text: string): string => text.replaceAll(',', ',,')

const diskArguments = ({ path, format }: Definition['disks'][number], at: number): string[] => {
  const node = {
    driver: format,
    'node-name': `disk${at}`,
    discard: 'unmap',
    file: { driver: 'file', filename: path },
  }
  const device = {
    drive: `disk${at}`,
    bootindex: at + 1,
    // The guest halts instead of seeing the error, so that nothing is lost when the host's disk is full.
    werror: 'stop',
    rerror: 'stop',
    ...(at < ideDisks
      ? { driver: 'ide-hd', bus: `ide.${Math.floor(at / 2)}`, unit: at % 2 }
      : { driver: 'virtio-blk-pci' }),
  }
  return ['-blockdev', JSON.stringify(node), '-device', JSON.stringify(device)]
}

const networkArguments = ({ mac }: Definition['networks'][number], at: number): string[] => [
  '-netdev',
  `user,id=net${at}`,
  '-device',
  JSON.stringify({ driver: 'e1000', netdev: `net${at}`, mac, romfile: '' }),
]

const socketArguments = (id: string, path: string): string[] => [
  '-chardev',
  `socket,id=${id},path=${path},server=on,wait=off`,
]

const optional = (flag: string, value: string | undefined): string[] => (value === undefined ? [] : [flag, value])

/**
 * The command line of a machine, without the program. Every path of the service's own is relative to the machine's folder.
 * With `resume` the machine's memory comes from its state file, and it waits until it is told to go on.
 */
export const qemuArguments = (definition: Definition, accelerator: Accelerator, resume: boolean): string[] => [
  ...['-name', `guest=${escape(definition.name)}`, '-uuid', definition.id],
  ...['-machine', 'pc', '-accel', accelerator, '-cpu', accelerator === 'tcg' ? 'qemu64' : 'host'],
  ...['-m', `size=${definition.memory}M`, '-smp', `cpus=${definition.cpus}`],
  ...['-no-user-config', '-nodefaults', '-display', 'none', '-vga', 'none'],
  ...['-sandbox', 'on,obsolete=deny,elevateprivileges=deny,resourcecontrol=deny'],
  ...['-pidfile', files.pid],
  ...socketArguments('control', files.control),
  ...['-mon', 'chardev=control,mode=control'],
  ...socketArguments('spare', files.spareControl),
  ...['-mon', 'chardev=spare,mode=control'],
  ...socketArguments('serial', files.serial).map((argument, at) =>
    at === 0 ? argument : `${argument},logfile=${files.serialLog},logappend=on`,
  ),
  ...['-serial', 'chardev:serial'],
  ...definition.disks.flatMap(diskArguments),
  ...definition.networks.flatMap(networkArguments),
  ...optional('-kernel', definition.kernel),
  ...optional('-initrd', definition.initrd),
  ...optional('-append', definition.cmdline),
  // The name is fixed: this text goes through a shell.
  ...(resume ? ['-incoming', `exec:cat ${files.state}`] : []),
]
