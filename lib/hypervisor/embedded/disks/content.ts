import { createHash } from 'node:crypto'
import { constants, copyFile, open } from 'node:fs/promises'
import { isSystemError, writeAll } from '#lib/platform/files.ts'
import type { OpenFile } from '#lib/platform/open-file.ts'
import type { MachineDisk } from './machine-disk.ts'
import { applyWritten, isAnyWritten, layOutOverlay, sectorSize } from './overlay.ts'

type DiskContent = Pick<MachineDisk, 'file' | 'base' | 'size'>

/** Bytes that are in memory at a time. */
const partSize = 1 << 20

/** Reads `length` bytes. A file that has become shorter meanwhile is read as if zeros followed. */
const readAt = async ({ handle }: OpenFile, position: number, length: number): Promise<Buffer> => {
  const bytes = Buffer.alloc(length)
  for (let done = 0; done < length;) {
    const { bytesRead } = await handle.read(bytes, done, length - done, position + done)
    if (bytesRead === 0) break
    done += bytesRead
  }
  return bytes
}

/** Yields the content of a disk, as its guest sees it, from its beginning. Throws the reason of the signal. */
async function* readContent({ file, base, size }: DiskContent, signal: AbortSignal): AsyncGenerator<Buffer> {
  const layout = layOutOverlay(size)
  const map = base && (await readAt(file, layout.map.offset, layout.map.size))
  for (let at = 0; at < size; at += partSize) {
    signal.throwIfAborted()
    const length = Math.min(partSize, size - at)
    const part = await readAt(base ?? file, at, length)
    const first = at / sectorSize
    if (map && isAnyWritten(map, first, first + length / sectorSize))
      applyWritten(part, await readAt(file, layout.content + at, length), map, first)
    yield part
  }
}

/** Returns the SHA-256 of the content of a disk. Throws the reason of the signal. */
export const hashContent = async (disk: DiskContent, signal: AbortSignal): Promise<string> => {
  const hash = createHash('sha256')
  for await (const part of readContent(disk, signal)) hash.update(part)
  return hash.digest('hex')
}

/** Writes the content of a disk to the new file `to`, in which zeros need no space. Throws the reason of the signal. */
export const copyContent = async (disk: DiskContent, to: string, signal: AbortSignal): Promise<void> => {
  await using file = await open(to, 'wx', 0o600)
  await file.truncate(disk.size)
  const zeros = Buffer.alloc(partSize)
  let at = 0
  for await (const part of readContent(disk, signal)) {
    if (!part.equals(zeros.subarray(0, part.length))) await writeAll(file, part, at)
    at += part.length
  }
}

/** The errors of file systems that cannot share blocks, or not between these two files. */
const cannotShareCodes = ['ENOTSUP', 'EOPNOTSUPP', 'EXDEV', 'EINVAL', 'ENOSYS', 'ENOTTY', 'EPERM']

/**
 * Copies an image or an overlay as it is to the new file `to`. Both share their blocks (reflink) if the file system can; else zeros need
 * no space. Throws the reason of the signal.
 */
export const copyImage = async (file: OpenFile, to: string, signal: AbortSignal): Promise<void> => {
  try {
    await copyFile(file.descriptorPath, to, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE_FORCE)
  } catch (error) {
    if (!cannotShareCodes.some(code => isSystemError(error, code))) throw error
    await copyContent({ file, base: undefined, size: file.size }, to, signal)
  }
}
