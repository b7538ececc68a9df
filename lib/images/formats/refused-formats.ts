import type { ImageFile } from './image-file.ts'

/** The formats that the service does not read, with the text at a position that identifies each. Negative: from the end. */
const refusedFormats: readonly (readonly [name: string, at: number, text: string, remedy?: string])[] = [
  ['a compressed file (gzip)', 0, '\x1f\x8b', 'gunzip'],
  ['a compressed file (xz)', 0, '\xfd7zXZ\0', 'unxz'],
  ['a compressed file (zstd)', 0, '\x28\xb5\x2f\xfd', 'unzstd'],
  ['a compressed file (bzip2)', 0, 'BZh', 'bunzip2'],
  ['an archive (zip)', 0, 'PK\x03\x04', 'unzip'],
  ['an archive (7z)', 0, "7z\xbc\xaf'\x1c", '7z x'],
  ['a VMDK descriptor of other files', 0, '# Disk DescriptorFile'],
  ['a VMDK image of ESX (COWD)', 0, 'COWD'],
  ['a VMDK image of ESX (SESparse)', 0, '\xbe\xba\xfe\xca\0\0\0\0'],
  ['a VDI image', 64, '\x7f\x10\xda\xbe'],
  ['a VHD image', 0, 'conectix'],
  ['a VHD image', -512, 'conectix'],
  ['a QED image', 0, 'QED\0'],
  ['a QCOW image (version 1)', 0, 'QFI\xfb\0\0\0\x01'],
  ['a Parallels image', 0, 'WithoutFreeSpace'],
  ['a Parallels image', 0, 'WithouFreSpacExt'],
  ['a DMG image', -512, 'koly\0\0\0\x04'],
  ['an encrypted image (LUKS)', 0, 'LUKS\xba\xbe'],
]

/** Returns why a file is refused by what it is; undefined if it is in none of the known other formats. */
export const findRefusedFormat = async (file: ImageFile): Promise<string | undefined> => {
  const readText = async (position: number): Promise<string> => (await file.read(position, 512)).toString('latin1')
  const [start, end] = await Promise.all([readText(0), readText(Math.max(0, file.size - 512))])
  const found = refusedFormats.find(([, at, text]) =>
    at < 0 ? end.length === 512 && end.startsWith(text, 512 + at) : start.startsWith(text, at),
  )
  if (!found) return undefined
  const [name, , , unpack] = found
  const remedy = unpack === undefined ? 'Convert it to qcow2 (qemu-img convert)' : `Unpack it first (${unpack})`
  return `The file is ${name}, which cannot be used as an image. ${remedy}.`
}
