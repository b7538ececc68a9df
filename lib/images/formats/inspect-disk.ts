import { ServiceError } from '#lib/errors.ts'
import type { DiskContent } from './facts.ts'
import type { ImageFile } from './image-file.ts'
import { inspectQcow2 } from './qcow2/inspect-qcow2.ts'
import { inspectRaw } from './raw.ts'
import { createRefuse } from './refusal.ts'
import { findRefusedFormat } from './refused-formats.ts'
import { inspectVhdx } from './vhdx/inspect-vhdx.ts'
import { inspectVmdk } from './vmdk/inspect-vmdk.ts'

/** The readers, with the text at the start of the file that identifies each format. */
const readers: readonly (readonly [magic: string, inspect: (file: ImageFile) => Promise<DiskContent>])[] = [
  ['QFI\xfb', inspectQcow2],
  ['KDMV', inspectVmdk],
  ['vhdxfile', inspectVhdx],
]

/**
 * The most bytes of content per byte of the file. Deflate makes no more of any file. A small file whose tables name the same
 * compressed data again and again would keep the host busy and fill its disk.
 */
const maxExpansion = 1024

/** Inspects one disk by the format that its first bytes tell. Throws `invalid` with what is wrong with it. */
export const inspectDisk = async (file: ImageFile): Promise<DiskContent> => {
  const refusal = await findRefusedFormat(file)
  if (refusal !== undefined) throw new ServiceError('invalid', refusal)
  const start = (await file.read(0, 8)).toString('latin1')
  const reader = readers.find(([magic]) => start.startsWith(magic))
  const content = await (reader ? reader[1](file) : inspectRaw(file))
  if (content.dataSize > maxExpansion * file.size)
    createRefuse(content.format)(`its content is more than ${maxExpansion} times as large as its file`)
  return content
}
