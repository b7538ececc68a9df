import { createHash } from 'node:crypto'
import type { ProgressOptions } from '#lib/async/progress.ts'
import type { OpenFile } from '#lib/platform/open-file.ts'

/** Bytes per read: about a quarter of a millisecond of hashing, so that requests are answered meanwhile. */
const readSize = 256 * 1024

/** Computes the SHA-256 of an open file, in lower-case hex. Throws the reason of the signal. */
export const digestFile = async (
  { handle }: Pick<OpenFile, 'handle'>,
  { signal, onProgress }: Partial<ProgressOptions> = {},
): Promise<string> => {
  const hash = createHash('sha256')
  const buffer = Buffer.allocUnsafeSlow(readSize)
  for (let position = 0; ;) {
    signal?.throwIfAborted()
    const { bytesRead } = await handle.read(buffer, 0, readSize, position)
    if (bytesRead === 0) return hash.digest('hex')
    hash.update(buffer.subarray(0, bytesRead))
    position += bytesRead
    onProgress?.(position)
  }
}
