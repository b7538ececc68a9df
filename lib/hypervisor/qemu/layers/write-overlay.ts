import { open } from 'node:fs/promises'

/** Bytes of a cluster, as qemu-img chooses it. */
const clusterSize = 65_536
/** Bytes of the disk that an entry of the L1 table stands for. */
const entryReach = (clusterSize / 8) * clusterSize
/** Clusters before the L1 table: the header, the table of reference counts, and the reference counts. */
const tableCluster = 3

/** Writes the header of version 3, the extension with the format of the backing image, and its name. */
const writeHeader = (image: Buffer, base: string, size: number, entries: number): void => {
  const name = Buffer.from(base)
  const [headerSize, extensionSize] = [104, 24]
  image.write('QFI\xfb', 0, 'latin1')
  image.writeUInt32BE(3, 4)
  image.writeBigUInt64BE(BigInt(headerSize + extensionSize), 8)
  image.writeUInt32BE(name.length, 16)
  image.writeUInt32BE(Math.log2(clusterSize), 20)
  image.writeBigUInt64BE(BigInt(size), 24)
  image.writeUInt32BE(entries, 36)
  image.writeBigUInt64BE(BigInt(tableCluster * clusterSize), 40)
  image.writeBigUInt64BE(BigInt(clusterSize), 48)
  image.writeUInt32BE(1, 56)
  // Reference counts have 2 to the power of 4 bits.
  image.writeUInt32BE(4, 96)
  image.writeUInt32BE(headerSize, 100)
  image.writeUInt32BE(0xe2792aca, headerSize)
  image.writeUInt32BE(5, headerSize + 4)
  image.write('qcow2', headerSize + 8, 'latin1')
  name.copy(image, headerSize + extensionSize)
}

/**
 * Creates an empty qcow2 image of `size` bytes with the backing image `base`, whose absolute path has at most 1023 bytes. It is what
 * `qemu-img create` makes, without the start of a program. Throws errors of the file system.
 * Fields: docs/interop/qcow2.txt of QEMU.
 */
export const writeOverlay = async (base: string, size: number, path: string): Promise<void> => {
  const entries = Math.ceil(size / entryReach)
  const clusters = tableCluster + Math.max(1, Math.ceil((entries * 8) / clusterSize))
  const image = Buffer.alloc(tableCluster * clusterSize)
  writeHeader(image, base, size, entries)
  image.writeBigUInt64BE(BigInt(2 * clusterSize), clusterSize)
  for (let cluster = 0; cluster < clusters; cluster += 1) image.writeUInt16BE(1, 2 * clusterSize + cluster * 2)
  await using file = await open(path, 'wx', 0o600)
  await file.writeFile(image)
  await file.truncate(clusters * clusterSize)
}
