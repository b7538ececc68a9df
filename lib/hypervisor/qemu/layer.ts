import { realpath } from 'node:fs/promises'
import { basename, dirname, isAbsolute, join, resolve } from 'node:path'
import { messageOf, ServiceError } from '#lib/errors.ts'
import { type OpenFile, openFile } from '#lib/platform/open-file.ts'

/** A qcow2 image as one of the layers of a disk. */
export interface Layer {
  /** The absolute path of the backing image, without links in its folder. */
  readonly backing: string | undefined
  /** Bytes, as the guest sees the disk. */
  readonly size: number
  /** True if it contains no own cluster: its content is that of its backing image. */
  readonly isUnwritten: boolean
  /** True if it contains internal snapshots, which would be lost with the file. */
  readonly hasSnapshots: boolean
}

const readAt = async ({ handle, size }: OpenFile, position: number, length: number): Promise<Buffer> => {
  // A damaged header can name positions beyond the end of the file.
  if (position >= size) return Buffer.alloc(0)
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, position)
  return buffer.subarray(0, bytesRead)
}

/** Bytes of the largest L1 table that QEMU reads (QCOW_MAX_L1_SIZE in block/qcow2.h). */
const maxTableSize = 32 * 2 ** 20

/** Bytes of the table per read. */
const blockSize = 65_536

/** True if a table of so many bytes contains only zeros. False if the file ends before the table. */
const isZero = async (file: OpenFile, position: number, length: number): Promise<boolean> => {
  for (let done = 0; done < length; done += blockSize) {
    const wanted = Math.min(blockSize, length - done)
    const bytes = await readAt(file, position + done, wanted)
    if (bytes.length < wanted || bytes.some(byte => byte !== 0)) return false
  }
  return true
}

/** Opens an image that this service created. Throws `conflict` if that fails. */
export const openLayer = (path: string): Promise<OpenFile> =>
  openFile(path).catch((error: unknown) => {
    throw new ServiceError('conflict', messageOf(error), { cause: error })
  })

/**
 * Reads a qcow2 image that this service created as a layer. The L1 table (8 bytes per 512 MB with the default cluster size) has an
 * entry for every range with a cluster that was ever written, zeroed or discarded. If it is all zero, the image is unwritten.
 * Fields: docs/interop/qcow2.txt of QEMU. Throws `conflict` if it is not such an image.
 */
export const readLayer = async (file: OpenFile): Promise<Layer> => {
  const { path } = file
  const header = await readAt(file, 0, 80)
  const refuse = (what: string): never => {
    throw new ServiceError('conflict', `${path}, a disk of a machine or a layer of one, ${what}.`)
  }
  if (header.length < 72 || header.toString('latin1', 0, 4) !== 'QFI\xfb') refuse('is not a qcow2 image')
  if (header.readUInt32BE(4) > 2 && (header.readBigUInt64BE(72) & 4n) !== 0n) refuse('has its data in another file')
  const [at, length] = [Number(header.readBigUInt64BE(8)), header.readUInt32BE(16)]
  const [table, tableLength] = [Number(header.readBigUInt64BE(40)), header.readUInt32BE(36) * 8]
  // QEMU reads no longer names and no larger tables.
  if (length > 1023 || tableLength > maxTableSize) refuse('is damaged')
  if (at + length > file.size || table + tableLength > file.size)
    refuse('is damaged, for it ends before its header says')
  const name = (await readAt(file, at, length)).toString('utf8')
  // Accepts only absolute, normalized paths, as this service writes them. QEMU reads others in its own way: up to a NUL,
  // through links, as a URL.
  if (at > 0 && (name.includes('\0') || !isAbsolute(name) || name !== resolve(name)))
    refuse(`builds on ${JSON.stringify(name)}, which is no base of a linked clone, so it is not read`)
  const folder = at > 0 && (await realpath(dirname(name)).catch(() => refuse(`builds on ${name}, which is missing`)))
  if (folder !== false && folder !== join(await realpath(dirname(dirname(name))), basename(dirname(name))))
    refuse(`builds on ${name}, which is no base of a linked clone, for its folder is a link, so it is not read`)
  return {
    backing: folder === false ? undefined : join(folder, basename(name)),
    size: Number(header.readBigUInt64BE(24)),
    isUnwritten: await isZero(file, table, tableLength),
    hasSnapshots: header.readUInt32BE(60) > 0,
  }
}

/** Opens and reads the image at a path as a layer. Throws as `openLayer` and `readLayer`. */
export const readLayerAt = async (path: string): Promise<Layer> => {
  await using file = await openLayer(path)
  return await readLayer(file)
}
