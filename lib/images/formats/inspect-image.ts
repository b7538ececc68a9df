import type { OpenFile } from '#lib/platform/open-file.ts'
import type { ImageFacts } from './facts.ts'
import { createImageFile } from './image-file.ts'
import { inspectDisk } from './inspect-disk.ts'
import { inspectOva, isTar } from './ova/inspect-ova.ts'

/**
 * Inspects a disk image that somebody made elsewhere, before QEMU or qemu-img opens it: those open the files and servers that a
 * hostile image names. An accepted image is complete in itself, and all that its tables name is inside the file and is named
 * once. Costs at most some MB of memory and one reading of the tables; an OVA with a manifest is read to its end.
 * Throws `invalid` with what is wrong, or the reason of the signal.
 */
export const inspectImage = async (
  openFile: Pick<OpenFile, 'handle' | 'size'>,
  signal?: AbortSignal,
): Promise<ImageFacts> => {
  const file = createImageFile(openFile)
  if (await isTar(file)) return inspectOva(file, signal)
  return { ...(await inspectDisk(file)), offset: 0, length: file.size }
}
