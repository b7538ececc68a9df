import type { DiskContent } from './facts.ts'
import type { ImageFile } from './image-file.ts'
import { checkVirtualSize, createRefuse } from './refusal.ts'

/** Where the first volume descriptor of ISO 9660 is: after sixteen sectors of 2048 bytes. */
const descriptorAt = 32_768

/**
 * Inspects bytes that are no other format: a raw disk, or the image of a CD (ISO 9660, ECMA-119 8.4). Throws `invalid` for a size
 * that no disk has, and for a CD that is cut off.
 */
export const inspectRaw = async (file: ImageFile): Promise<DiskContent> => {
  const descriptor = await file.read(descriptorAt, 136)
  const isCd = descriptor.length === 136 && descriptor.toString('latin1', 0, 6) === '\x01CD001'
  const format = isCd ? 'iso' : 'raw'
  const refuse = createRefuse(format)
  if (isCd && descriptor.readUInt32LE(80) * descriptor.readUInt16LE(128) > file.size)
    refuse('it ends before its first volume does, so it was cut off')
  const virtualSize = checkVirtualSize(file.size, refuse)
  return { format, virtualSize, dataSize: virtualSize }
}
