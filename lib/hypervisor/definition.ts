import * as z from 'zod'
import { Autostart, CdRom, Disk, Forward, Limits, Network, SharedFolder } from './machine-parts.ts'
import type { Seed } from './seed/seed.ts'

/** Upper limits of a machine on every driver. Memory is in MB, a disk in bytes, texts are in characters. */
export const bounds = {
  cpus: 255,
  memory: 16_777_216,
  disks: 16,
  cdroms: 4,
  sharedFolders: 16,
  diskSize: 67_108_864 * 2 ** 20,
  description: 4096,
  cmdline: 4096,
} as const

/** The definition of a machine, as a driver stores it in the machine's folder. Memory is in MB. */
export const Definition = z.object({
  id: z.uuid(),
  name: z.string().min(1),
  description: z.string().default(''),
  cpus: z.int().positive(),
  memory: z.int().positive(),
  disks: z.array(Disk),
  /** Own disks that were removed. They are deleted with the machine, and can be added again. */
  detached_disks: z.array(Disk).optional(),
  networks: z.array(Network).default([]),
  kernel: z.string().optional(),
  initrd: z.string().optional(),
  cmdline: z.string().optional(),
  /** Only for a linked clone: the machine whose disks are the backing files of this one's. */
  base: z.uuid().optional(),
  /** The machine type of QEMU. Machines of older versions have none: `pc`. */
  machine_type: z.enum(['pc', 'q35']).optional(),
  firmware: z.enum(['bios', 'uefi']).optional(),
  /** True for a machine with a screen. */
  display: z.boolean().optional(),
  /** MB that the memory can grow to while the machine runs. */
  max_memory: z.int().positive().optional(),
  /** MB of each memory module that was plugged while the machine ran; `memory` contains them. */
  memory_modules: z.array(z.int().positive()).optional(),
  /** The number that the CPUs can grow to while the machine runs. */
  max_cpus: z.int().positive().optional(),
  /** Device classes in the order in which the firmware tries them. */
  boot_order: z.array(z.enum(['hdd', 'cdrom', 'net'])).optional(),
  cdroms: z.array(CdRom).optional(),
  forwards: z.array(Forward).optional(),
  shared_folders: z.array(SharedFolder).optional(),
  limits: Limits.optional(),
  autostart: Autostart.optional(),
  restart: z.enum(['never', 'on-crash']).optional(),
  /** The id of the user who made the machine. */
  owner: z.string().optional(),
  labels: z.record(z.string(), z.string()).optional(),
  /** True for a machine that is deleted when it stops. */
  ephemeral: z.boolean().optional(),
  /** The time at which the service deletes the machine. */
  expires_at: z.string().optional(),
  created_at: z.string(),
})
export type Definition = z.infer<typeof Definition>

/** What a pack decides about a machine. Its sender decides nothing else: neither about the host nor about the network. */
const portableMembers = {
  id: true,
  name: true,
  description: true,
  cpus: true,
  memory: true,
  networks: true,
  kernel: true,
  initrd: true,
  cmdline: true,
  machine_type: true,
  firmware: true,
  display: true,
  max_memory: true,
  max_cpus: true,
  boot_order: true,
  created_at: true,
} as const

/** The part of a definition that travels with a pack. */
export const PortableDefinition = Definition.pick(portableMembers).extend({
  disks: z.array(Disk.omit({ inode: true, birthTime: true, backing: true, image: true })),
  /** Only how many drives there are; they are empty. */
  cdroms: z.array(CdRom.pick({ name: true, bus: true })).optional(),
})

/** Who and what a new machine is that is made of another one. */
export interface CloneIdentity {
  readonly id: string
  readonly name: string
  /** The id of the user who makes the clone. */
  readonly owner?: string | undefined
}

/**
 * Returns the definition of a clone before its disks and cards are replaced. A clone does not start by itself, has no end and
 * no ports of the host, which are those of its source.
 */
export const cloneDefinition = (source: Definition, { id, name, owner }: CloneIdentity): Definition => {
  const { base: _, detached_disks: __, forwards: ___, autostart: ____, ...others } = source
  const { ephemeral: _____, expires_at: ______, owner: _______, ...rest } = others
  return { ...rest, id, name, ...(owner !== undefined && { owner }), created_at: new Date().toISOString() }
}

/**
 * A new disk: an existing file that is used in place, one of `size` MB, or one of `size` bytes with the content of the registered
 * image whose SHA-256 is `image`.
 */
export type NewDisk = (
  | { readonly path: string }
  | { readonly size: number }
  | { readonly image: string; readonly size: number }
) & {
  readonly bus?: Disk['bus'] | undefined
}

/** A drive with an ISO file: of the host, or the registered image whose SHA-256 is `image`. Without both it is empty. */
export interface NewCdRom {
  readonly path?: string | undefined
  readonly image?: string | undefined
}

/** A request to create a machine. */
export interface NewMachine extends NewHardware {
  /** A UUID in lower case; a new one when left out. */
  readonly id?: string | undefined
  readonly name: string
  readonly description: string
  readonly cpus: number
  readonly memory: number
  readonly disks: readonly NewDisk[]
  readonly kernel?: string | undefined
  readonly initrd?: string | undefined
  readonly cmdline?: string | undefined
  /** One isolated card when left out. */
  readonly networks?: readonly Network[] | undefined
  readonly forwards?: Forward[] | undefined
  readonly owner?: string | undefined
  readonly labels?: Definition['labels']
  readonly ephemeral?: boolean | undefined
  readonly expires_at?: string | undefined
  readonly autostart?: Definition['autostart']
  readonly restart?: Definition['restart']
  /** What the guest's cloud-init is told. It is a secret, and no part of the definition. */
  readonly seed?: Seed | undefined
}

/** The hardware that a request may choose; each driver has its own for what is left out. */
export type NewHardware = {
  readonly [K in (typeof hardwareMembers)[number]]?: Definition[K] | undefined
} & { readonly cdroms?: readonly NewCdRom[] | undefined }

/** The members of `NewHardware` that are members of the definition too. */
export const hardwareMembers = [
  'machine_type',
  'firmware',
  'display',
  'max_cpus',
  'max_memory',
  'boot_order',
  'shared_folders',
  'limits',
] as const
