import type { Definition } from '../definition.ts'
import { buildBlockNode } from './block-node.ts'
import type { ResolvedDefinition, ResolvedDisk } from './attached-files.ts'

/** Files in a machine's folder, which is the working folder of its QEMU. */
export const fileNames = {
  /** The folder in which QEMU creates its own files. */
  runFolder: 'run',
  /** Written by the service, outside of `runFolder`, so that QEMU cannot replace it. */
  pidFile: 'qemu.pid',
  /** The pid file of older versions of the service. */
  legacyPid: 'run/pid',
  controlSocket: 'run/qmp.sock',
  /** A second control socket for other tools, since each socket serves one client. */
  spareControlSocket: 'run/qmp2.sock',
  /** The guest's serial line. Only the recorder connects to it. */
  serialLine: 'run/line.sock',
  /** The serial line for other tools, served by the recorder. */
  serialSocket: 'run/serial.sock',
  serialLog: 'serial.log',
  /** The error output of QEMU. It is outside of `runFolder` because the service opens it. */
  qemuLog: 'qemu.log',
  /**
   * The socket on which the service receives the memory of a machine that it suspends; outside of `runFolder`, so that QEMU
   * cannot replace it.
   */
  memorySocket: 'memory.sock',
  stateFile: 'state.mem',
  /** Identifies the saved memory in `stateFile`. */
  stateInfo: 'state.json',
  unfinishedState: 'state.mem.new',
  /** Saved memory that was loaded. Its guest has run since. */
  loadedState: 'state.mem.spent',
} as const

export type Accelerator = 'tcg' | 'kvm' | 'hvf'

/** Maximum number of IDE disks of the machine type `pc`. Old guests can boot from IDE too. */
const ideDisks = 4

/** Doubles commas, since a single comma ends a value in QEMU's option strings. */
const escapeCommas = (text: string): string => text.replaceAll(',', ',,')

const buildDiskArguments = ({ path, format, layers = [] }: ResolvedDisk, at: number): string[] => {
  const node = {
    'node-name': `disk${at}`,
    discard: 'unmap',
    // The headers do not count: an attached image has no backing file, and an own disk has exactly these layers.
    ...buildBlockNode(format, [path, ...layers]),
  }
  const device = {
    drive: `disk${at}`,
    bootindex: at + 1,
    // QEMU stops the guest instead of reporting the error to it, so that a full disk of the host loses no data.
    werror: 'stop',
    rerror: 'stop',
    ...(at < ideDisks
      ? { driver: 'ide-hd', bus: `ide.${Math.floor(at / 2)}`, unit: at % 2 }
      : { driver: 'virtio-blk-pci' }),
  }
  return ['-blockdev', JSON.stringify(node), '-device', JSON.stringify(device)]
}

const buildNetworkArguments = ({ mac, mode }: Definition['networks'][number], at: number): string[] => [
  '-netdev',
  `user,id=net${at}${mode === 'isolated' ? ',restrict=on' : ''}`,
  '-device',
  JSON.stringify({ driver: 'e1000', netdev: `net${at}`, mac, romfile: '' }),
]

const buildSocketArguments = (id: string, path: string, wait: 'on' | 'off'): string[] => [
  '-chardev',
  `socket,id=${id},path=${path},server=on,wait=${wait}`,
]

const buildOption = (flag: string, value: string | undefined): string[] => (value === undefined ? [] : [flag, value])

/**
 * Returns the command line of a machine, without the program. Paths of own files are relative to the machine's folder. With
 * `memory`, a descriptor that QEMU inherits, QEMU loads the machine's memory from it and waits for `cont`.
 */
export const buildQemuArguments = (
  definition: ResolvedDefinition,
  accelerator: Accelerator,
  memory?: number,
): string[] => [
  ...['-name', `guest=${escapeCommas(definition.name)}`, '-uuid', definition.id],
  ...['-machine', 'pc', '-accel', accelerator, '-cpu', accelerator === 'tcg' ? 'qemu64' : 'host'],
  ...['-m', `size=${definition.memory}M`, '-smp', `cpus=${definition.cpus}`],
  ...['-no-user-config', '-nodefaults', '-display', 'none', '-vga', 'none'],
  ...['-sandbox', 'on,obsolete=deny,elevateprivileges=deny,spawn=deny,resourcecontrol=deny'],
  ...buildSocketArguments('control', fileNames.controlSocket, 'off'),
  ...['-mon', 'chardev=control,mode=control'],
  ...buildSocketArguments('spare', fileNames.spareControlSocket, 'off'),
  ...['-mon', 'chardev=spare,mode=control'],
  // QEMU waits for the recorder before the guest starts, so its first output is recorded too. Later it drops output without
  // a reader.
  ...buildSocketArguments('serial', fileNames.serialLine, 'on'),
  ...['-serial', 'chardev:serial'],
  ...definition.disks.flatMap(buildDiskArguments),
  ...definition.networks.flatMap(buildNetworkArguments),
  ...buildOption('-kernel', definition.kernel),
  ...buildOption('-initrd', definition.initrd),
  ...buildOption('-append', definition.cmdline),
  ...(memory === undefined ? [] : ['-incoming', `fd:${memory}`]),
]
