import type { DiskFacts } from '../formats/facts.ts'

/**
 * Describes a disk as a block node for qemu-img. The format is named, so that none is guessed from the content. No backing image
 * is opened, whatever a header says. A disk in an archive is a range of the file.
 */
export const buildSourceNode = ({ format, offset, length }: DiskFacts, path: string): object => {
  const range = { driver: 'raw', offset, size: length, file: { driver: 'file', filename: path } }
  if (format === 'raw' || format === 'iso') return range
  return { driver: format, ...(format !== 'vhdx' && { backing: null }), file: range }
}
