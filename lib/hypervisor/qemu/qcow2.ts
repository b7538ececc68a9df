import { open } from 'node:fs/promises'
import { ServiceError } from '#lib/errors.ts'

/**
 * The size of a qcow2 image, in bytes as its guest sees it, by its header alone. Refuses what is no such image or not complete
 * in itself: qemu-img and QEMU open what a header names, a file or a server, before they can be asked what it says.
 * Fields: docs/interop/qcow2.txt of QEMU. Throws `invalid`.
 */
export const inspectQcow2 = async (path: string): Promise<number> => {
  const header = Buffer.alloc(80)
  await using file = await open(path, 'r')
  const { bytesRead } = await file.read(header, 0, header.length, 0)
  const refuse = (what: string): never => {
    throw new ServiceError('invalid', `${path} ${what}.`)
  }
  if (bytesRead < header.length || header.toString('latin1', 0, 4) !== 'QFI\xfb') refuse('is not a qcow2 image')
  const version = header.readUInt32BE(4)
  if (version !== 2 && version !== 3) refuse(`is a qcow2 image of version ${version}, which is unknown`)
  if (header.readBigUInt64BE(8) !== 0n) refuse('builds on another image; pack it flattened')
  if (header.readUInt32BE(32) !== 0) refuse('is encrypted, and nobody would give the machine its key')
  // Incompatible features, of version 3: bit 2 says that the data is in another file.
  if (version === 3 && (header.readBigUInt64BE(72) & 4n) !== 0n)
    refuse('has its data in another file; pack it flattened')
  return Number(header.readBigUInt64BE(24))
}
