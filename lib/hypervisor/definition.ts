import * as z from 'zod'

/** Upper limits of a machine on every driver. Memory is in MB, a disk in bytes, texts are in characters. */
export const bounds = {
  cpus: 255,
  memory: 16_777_216,
  disks: 16,
  diskSize: 67_108_864 * 2 ** 20,
  description: 4096,
  cmdline: 4096,
} as const

/** A disk of a machine. `size` is in bytes as the guest sees it. */
const Disk = z.object({
  /** Absolute, or relative to the machine's folder. A relative disk belongs to the machine and is deleted with it. */
  path: z.string().min(1),
  size: z.int().nonnegative(),
  format: z.enum(['raw', 'qcow2']),
  /**
   * Only for an image of the host: inode and birth time identify the file that the machine was created with (`host-image.ts`).
   */
  inode: z.string().optional(),
  birthTime: z.string().optional(),
  /** Only for a linked clone: the base image, in the folder of its source, that the disk was created on. */
  backing: z.string().optional(),
})

/** Where a network card leads: an `isolated` card reaches neither the internet nor the host. */
export const networkModes = ['isolated'] as const
export type NetworkMode = (typeof networkModes)[number]

/** A network card. Machines of older versions have no mode: their cards reach the internet and the loopback of the host. */
export const Network = z.object({ mac: z.string(), mode: z.enum(networkModes).optional() })

/** The definition of a machine, as a driver stores it in the machine's folder. Memory is in MB. */
export const Definition = z.object({
  id: z.uuid(),
  name: z.string().min(1),
  description: z.string().default(''),
  cpus: z.int().positive(),
  memory: z.int().positive(),
  disks: z.array(Disk),
  networks: z.array(Network).default([]),
  kernel: z.string().optional(),
  initrd: z.string().optional(),
  cmdline: z.string().optional(),
  /** Only for a linked clone: the machine whose disks are the backing files of this one's. */
  base: z.uuid().optional(),
  created_at: z.string(),
})
export type Definition = z.infer<typeof Definition>

/** A request to create a machine. A disk is an existing file (used in place) or a new one of `size` MB. */
export interface NewMachine {
  readonly name: string
  readonly description: string
  readonly cpus: number
  readonly memory: number
  readonly disks: readonly ({ readonly path: string } | { readonly size: number })[]
  readonly kernel?: string | undefined
  readonly initrd?: string | undefined
  readonly cmdline?: string | undefined
}

/** The fields of a definition that `set` can change. `network` is the mode of all cards. */
export type DefinitionChanges = { readonly [K in 'name' | 'description' | 'cpus' | 'memory']?: Definition[K] } & {
  readonly network?: NetworkMode
}

/** Returns the definition with the changes applied. */
export const applyChanges = (definition: Definition, { network, ...fields }: DefinitionChanges): Definition => ({
  ...definition,
  ...fields,
  ...(network && { networks: definition.networks.map(card => ({ ...card, mode: network })) }),
})

/** Returns the present value of a field that `set` can change. */
export const getCurrentValue = (definition: Definition, field: keyof DefinitionChanges): string | number =>
  field === 'network' ? (definition.networks[0]?.mode ?? 'open') : definition[field]
