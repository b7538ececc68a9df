import type { FileHandle } from 'node:fs/promises'
import type { OpenFile } from '#lib/platform/open-file.ts'

/** An open file in memory that counts how many bytes were read from it. */
export const createCountingFile = (bytes: Uint8Array): Pick<OpenFile, 'handle' | 'size'> & { bytesRead: number } => {
  const file = {
    size: bytes.length,
    bytesRead: 0,
    handle: {
      async read(buffer: Buffer, offset: number, length: number, position: number) {
        const part = bytes.subarray(position, position + length)
        buffer.set(part, offset)
        file.bytesRead += part.length
        return { bytesRead: part.length, buffer }
      },
    } as unknown as FileHandle,
  }
  return file
}
