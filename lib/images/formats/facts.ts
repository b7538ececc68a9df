/** The formats of one disk. An `iso` is a raw image that contains the file system of a CD. */
export type DiskFormat = 'raw' | 'iso' | 'qcow2' | 'vmdk' | 'vhdx'

/** What the readers know of one disk that they accepted. */
export interface DiskFacts {
  readonly format: DiskFormat
  /** Bytes, as a guest sees the disk. */
  readonly virtualSize: number
  /** The largest number of bytes of content that a copy in clusters of 64 KB can have. */
  readonly dataSize: number
  /** The position of the disk in the file: 0 unless it is in an archive. */
  readonly offset: number
  /** Bytes of the disk in the file. */
  readonly length: number
}

/** A disk in an archive. */
export interface NamedDisk extends DiskFacts {
  readonly name: string
}

/** What the readers know of an archive of disks. */
export interface ArchiveFacts {
  readonly format: 'ova'
  /** The sum of all disks. */
  readonly virtualSize: number
  /** In the order of the descriptor; at least one. */
  readonly disks: readonly NamedDisk[]
}

/** What the readers know of an image that they accepted. */
export type ImageFacts = DiskFacts | ArchiveFacts

/** What the reader of a format gives: the position in the file is the business of its caller. */
export type DiskContent = Omit<DiskFacts, 'offset' | 'length'>

/** Bytes of a cluster of the images that conversion writes. */
export const targetClusterSize = 65_536

/** The largest disk of a guest that is accepted, in bytes. */
export const maxVirtualSize = 16 * 2 ** 40
