import * as z from 'zod'

/** The name of a part in a machine's definition: `hdd0`, `net1`, … Parts keep their names when others are removed. */
const PartName = z.string().regex(/^[a-z]{1,8}[0-9]{1,3}$/)

/** The slot that a part is plugged into. Parts without one are part of the board: they cannot be removed while it runs. */
const Port = z.int().min(0).max(15).optional()

/** A disk of a machine. `size` is in bytes as the guest sees it. */
export const Disk = z.object({
  /** Absolute, or relative to the machine's folder. A relative disk belongs to the machine and is deleted with it. */
  path: z.string().min(1),
  size: z.int().nonnegative(),
  format: z.enum(['raw', 'qcow2']),
  /** `hdd0`, …; machines of older versions number their disks by their places. */
  name: PartName.optional(),
  /** Machines of older versions have none: IDE for the first four disks, virtio for the others. */
  bus: z.enum(['virtio', 'ide']).optional(),
  port: Port,
  /**
   * Only for an image of the host: inode and birth time identify the file that the machine was created with (`host-image.ts`).
   */
  inode: z.string().optional(),
  birthTime: z.string().optional(),
  /** Only for a linked clone: the base image, in the folder of its source, that the disk was created on. */
  backing: z.string().optional(),
  /** Only for a disk of a registered image: the SHA-256 of that image, which is the lowest layer of the disk. */
  image: z.string().optional(),
})
export type Disk = z.infer<typeof Disk>

/**
 * Where a network card leads. `isolated` reaches neither the internet nor the host; `nat` reaches the internet; `bridge:NAME` is
 * on a bridge of the host; `network:NAME` reaches the other machines of that network alone.
 */
export const NetworkMode = z.string().regex(/^(isolated|nat|(bridge|network):[A-Za-z0-9][A-Za-z0-9_.-]{0,13})$/, {
  error: 'must be isolated, nat, bridge:NAME or network:NAME, with a NAME of at most 14 letters, digits, _, . and -',
})
export type NetworkMode = z.infer<typeof NetworkMode>

/** A network card. Machines of older versions have no mode: their cards reach the internet and the loopback of the host. */
export const Network = z.object({
  mac: z.string(),
  mode: NetworkMode.optional(),
  /** `net0`, …; machines of older versions number their cards by their places. */
  name: PartName.optional(),
  /** Machines of older versions have none: `e1000`. */
  card: z.enum(['virtio', 'e1000']).optional(),
  port: Port,
})
export type Network = z.infer<typeof Network>

const PortNumber = z.int().min(1).max(65_535)

/** A port of the host that leads to a port of the guest, over the machine's isolated card. */
export const Forward = z.object({
  protocol: z.enum(['tcp', 'udp']).default('tcp'),
  /** The address of the host that the port is opened on. */
  host_address: z.ipv4().default('127.0.0.1'),
  host_port: PortNumber,
  guest_port: PortNumber,
})
export type Forward = z.infer<typeof Forward>

/** A CD-ROM drive. Without `path` and `image` it is empty. */
export const CdRom = z.object({
  name: PartName,
  /** `virtio` is a drive of a virtio SCSI controller, which can be added while the machine runs. */
  bus: z.enum(['virtio', 'ide']).optional(),
  /** An ISO file of the host, or relative to the machine's folder. */
  path: z.string().min(1).optional(),
  /** The SHA-256 of a registered image. */
  image: z.string().optional(),
})
export type CdRom = z.infer<typeof CdRom>

/** A folder of the host that the guest can mount by its name. */
export const SharedFolder = z.object({
  name: z
    .string()
    .regex(
      /^[A-Za-z0-9][A-Za-z0-9_.-]{0,30}$/,
      'must have at most 31 letters, digits, _, . and -, and begin with a letter or digit',
    ),
  path: z.string().min(1),
  mode: z.enum(['ro', 'rw']).default('ro'),
  enabled: z.boolean().default(true),
  description: z.string().max(256).default(''),
})
export type SharedFolder = z.infer<typeof SharedFolder>

/** Upper limits of what a machine takes of its host. A limit that is left out does not apply. */
export const Limits = z.object({
  /** Percent of one CPU of the host: 150 is one and a half. */
  cpu_percent: z.int().min(1).max(25_600).optional(),
  /** Of each disk. */
  disk_bytes_per_second: z.int().min(65_536).optional(),
  disk_operations_per_second: z.int().min(1).optional(),
  /** Of each network card, in each direction. */
  network_bytes_per_second: z.int().min(4096).optional(),
})
export type Limits = z.infer<typeof Limits>

/** Whether and when the service starts a machine by itself. */
export const Autostart = z.object({
  enabled: z.boolean().default(false),
  /** Machines with a lower number start first. */
  order: z.int().min(0).max(9999).default(0),
  /** Seconds to wait before this machine is started. */
  delay: z.int().min(0).max(3600).default(0),
})
export type Autostart = z.infer<typeof Autostart>
