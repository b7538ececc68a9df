import { ServiceError } from '#lib/errors.ts'
import type { OpenFile } from '#lib/platform/open-file.ts'
import { readStart } from '../files/file-start.ts'

const magic = 'QFI\xfb'

/** Unsupported image formats with the text at a position of the file that identifies each. */
const otherFormats: readonly (readonly [name: string, at: number, text: string])[] = [
  ['vmdk', 0, 'KDMV'],
  ['vmdk', 0, 'COWD'],
  ['vmdk', 0, '# Disk DescriptorFile'],
  ['vdi', 64, '\x7f\x10\xda\xbe'],
  ['vhdx', 0, 'vhdxfile'],
  ['vpc', 0, 'conectix'],
  ['qed', 0, 'QED\0'],
  ['parallels', 0, 'WithoutFreeSpace'],
  ['parallels', 0, 'WithouFreSpacExt'],
]

/**
 * Detects the format of an image from its first bytes. qemu-img is not used for that, because it would open the files that a
 * hostile header names. Throws `invalid` for an unsupported format.
 */
export const detectFormat = async (file: OpenFile): Promise<'raw' | 'qcow2'> => {
  const text = (await readStart(file, 512)).toString('latin1')
  if (text.startsWith(magic)) return 'qcow2'
  const other = otherFormats.find(([, at, prefix]) => text.startsWith(prefix, at))
  if (other) throw new ServiceError('invalid', `${file.path} is a ${other[0]} image; machines use raw and qcow2.`)
  return 'raw'
}

/**
 * Returns the virtual size of a qcow2 image in bytes, from its header alone. Throws `invalid` if it is not such an image or needs
 * another file: qemu-img and QEMU open the file or server that a header names before they report it.
 * Fields: docs/interop/qcow2.txt of QEMU.
 */
export const inspectQcow2 = async (file: OpenFile): Promise<number> => {
  const header = await readStart(file, 80)
  const refuse = (what: string): never => {
    throw new ServiceError('invalid', `${file.path} ${what}.`)
  }
  if (header.length < 80 || header.toString('latin1', 0, 4) !== magic) refuse('is not a qcow2 image')
  const version = header.readUInt32BE(4)
  if (version !== 2 && version !== 3) refuse(`is a qcow2 image of version ${version}, which is unknown`)
  if (header.readBigUInt64BE(8) !== 0n) refuse('builds on another image; flatten it first (qemu-img convert)')
  if (header.readUInt32BE(32) !== 0) refuse('is encrypted, and nobody would give the machine its key')
  // Incompatible features, of version 3: bit 2 says that the data is in another file.
  if (version === 3 && (header.readBigUInt64BE(72) & 4n) !== 0n)
    refuse('has its data in another file; flatten it first (qemu-img convert)')
  return Number(header.readBigUInt64BE(24))
}
