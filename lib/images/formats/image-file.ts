import { ServiceError } from '#lib/errors.ts'
import type { OpenFile } from '#lib/platform/open-file.ts'

/** The bytes of an image: a whole file, or one file in an archive. */
export interface ImageFile {
  readonly size: number
  /** Reads at most `length` bytes at a position; returns fewer at the end of the file. */
  read(position: number, length: number): Promise<Buffer>
}

/** Lets the readers of formats read an open file. */
export const createImageFile = ({ handle, size }: Pick<OpenFile, 'handle' | 'size'>): ImageFile => ({
  size,
  async read(position, length) {
    const buffer = Buffer.alloc(Math.max(0, Math.min(length, size - position)))
    let filled = 0
    while (filled < buffer.length) {
      const { bytesRead } = await handle.read(buffer, filled, buffer.length - filled, position + filled)
      if (bytesRead === 0)
        throw new ServiceError('conflict', 'The image became shorter while it was read. Stop what writes to it.')
      filled += bytesRead
    }
    return buffer
  },
})

/** Returns a part of a file as a file. The part must be inside. */
export const sliceImageFile = (file: ImageFile, offset: number, size: number): ImageFile => ({
  size,
  read: (position, length) => file.read(offset + position, Math.max(0, Math.min(length, size - position))),
})
