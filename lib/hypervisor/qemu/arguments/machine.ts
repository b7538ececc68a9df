import type { Definition } from '../../definition.ts'
import { isModern } from '../../parts.ts'
import type { Accelerator } from '../accelerator.ts'
import { escapeCommas } from './options.ts'

/** Memory modules that can be plugged while a machine runs. */
export const memorySlots = 16

const megabyte = 2 ** 20

/**
 * A guest that QEMU does not boot, and the open files that QEMU inherits for it: a file with saved memory, which QEMU loads before it
 * waits for `cont`, or for a fork one file for each part of its memory.
 */
export interface Incoming {
  readonly kind: 'saved memory' | 'fork'
  readonly descriptors: readonly number[]
}

/** Returns the argument that has QEMU wait for a guest. A fork waits for the command that names the source. */
export const buildIncomingArguments = ({ kind, descriptors }: Incoming): string[] => [
  '-incoming',
  kind === 'fork' ? 'defer' : `fd:${descriptors[0]}`,
]

/** Describes the memory of a fork: a file that QEMU reads, and whose changed pages QEMU keeps for itself. */
const describeForkMemory = (id: string, megabytes: number, descriptor: number) => ({
  ...{ 'qom-type': 'memory-backend-file', id, share: false, size: megabytes * megabyte },
  'mem-path': `/proc/self/fd/${descriptor}`,
})

/**
 * Describes memory that other processes can share: a file without a name. A file on a disk would be written back all the time.
 * Only Linux has such files.
 */
export const describeMemory = (id: string, megabytes: number) => ({
  ...(process.platform === 'linux'
    ? { 'qom-type': 'memory-backend-memfd', id, share: true }
    : { 'qom-type': 'memory-backend-ram', id }),
  size: megabytes * megabyte,
})

/** Describes the memory module in a slot. Its memory is that of `describeMemory`. */
export const describeMemoryModule = (slot: number) => ({
  driver: 'pc-dimm',
  id: `dimm${slot}`,
  memdev: `memory${slot}`,
  slot,
})

type Machine = Pick<
  Definition,
  | 'id'
  | 'name'
  | 'cpus'
  | 'memory'
  | 'machine_type'
  | 'firmware'
  | 'max_cpus'
  | 'max_memory'
  | 'memory_modules'
  | 'display'
>

const buildObject = (object: object): string[] => ['-object', JSON.stringify(object)]

const buildMemoryArguments = (machine: Machine, incoming: Incoming | undefined): string[] => {
  const { memory, memory_modules: modules = [], max_memory } = machine
  if (!isModern(machine)) return ['-m', `size=${memory}M`]
  const base = modules.reduce((rest, size) => rest - size, memory)
  const growth = max_memory === undefined || max_memory <= base ? '' : `,slots=${memorySlots},maxmem=${max_memory}M`
  const files = incoming?.kind === 'fork' ? incoming.descriptors : []
  const buildPart = (id: string, size: number, file: number | undefined): string[] =>
    buildObject(file === undefined ? describeMemory(id, size) : describeForkMemory(id, size, file))
  return [
    ...['-m', `size=${base}M${growth}`],
    ...buildPart('ram', base, files[0]),
    ...modules.flatMap((size, slot) => [
      ...buildPart(`memory${slot}`, size, files[slot + 1]),
      ...['-device', JSON.stringify(describeMemoryModule(slot))],
    ]),
  ]
}

const describeBoard = (machine: Machine): string => {
  if (!isModern(machine)) return 'pc'
  const firmware = machine.firmware === 'uefi' ? ',pflash0=firmware,pflash1=variables' : ''
  return `q35,memory-backend=ram${firmware}`
}

/** Returns the arguments of the board, the processors and the memory. */
export const buildMachineArguments = (machine: Machine, accelerator: Accelerator, incoming?: Incoming): string[] => [
  ...['-name', `guest=${escapeCommas(machine.name)}`, '-uuid', machine.id],
  ...['-machine', describeBoard(machine), '-accel', accelerator],
  ...['-cpu', accelerator === 'tcg' ? 'qemu64' : 'host'],
  ...buildMemoryArguments(machine, incoming),
  ...['-smp', `cpus=${machine.cpus}${(machine.max_cpus ?? 0) > machine.cpus ? `,maxcpus=${machine.max_cpus}` : ''}`],
  ...['-no-user-config', '-nodefaults', '-display', 'none', '-vga', 'none'],
  ...['-sandbox', 'on,obsolete=deny,elevateprivileges=deny,spawn=deny,resourcecontrol=deny'],
]
