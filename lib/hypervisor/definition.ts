import * as z from 'zod'

/** The most that a machine can ask for, whatever the driver; memory in MB, a disk in bytes, texts in characters. */
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
})

/** What a machine is made of, as a driver keeps it in the machine's folder. Memory is in MB. */
export const Definition = z.object({
  id: z.uuid(),
  name: z.string().min(1),
  description: z.string().default(''),
  cpus: z.int().positive(),
  memory: z.int().positive(),
  disks: z.array(Disk),
  networks: z.array(z.object({ mac: z.string() })).default([]),
  kernel: z.string().optional(),
  initrd: z.string().optional(),
  cmdline: z.string().optional(),
  /** The machine whose disks this one builds on (a linked clone). */
  base: z.uuid().optional(),
  created_at: z.string(),
})
export type Definition = z.infer<typeof Definition>

/** What somebody asks for who wants a new machine: a disk is an existing file (used in place) or a new one of `size` MB. */
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

/** The part of a definition that `set` can change. */
export type Changes = { readonly [K in 'name' | 'description' | 'cpus' | 'memory']?: Definition[K] }
