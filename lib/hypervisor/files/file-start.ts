import type { OpenFile } from '#lib/platform/open-file.ts'

/** Reads the first `length` bytes of a file, or as many as it has. */
export const readStart = async ({ handle }: OpenFile, length: number): Promise<Buffer> => {
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, 0)
  return buffer.subarray(0, bytesRead)
}

/**
 * True for a multiboot kernel (version 1). Its header is aligned in the first 8 KiB: a magic number, flags, and a checksum that
 * makes their sum zero.
 */
export const isMultiboot = async (file: OpenFile): Promise<boolean> => {
  const bytes = await readStart(file, 8192)
  for (let at = 0; at + 12 <= bytes.length; at += 4) {
    const [magic, flags, checksum] = [bytes.readUInt32LE(at), bytes.readUInt32LE(at + 4), bytes.readUInt32LE(at + 8)]
    if (magic === 0x1badb002 && (magic + flags + checksum) % 2 ** 32 === 0) return true
  }
  return false
}
