import { createReadStream } from 'node:fs'
import { Readable } from 'node:stream'
import type { Source } from '#lib/objects/port/provider.ts'

/** Creates a source of objects from a file of this host that never changes. */
export const createFileSource = (file: string, size: number): Source => ({
  size,
  file,
  read: ({ start, end }) =>
    Readable.toWeb(
      // createReadStream includes `end`, so it cannot read an empty range.
      end > start ? createReadStream(file, { start, end: end - 1, highWaterMark: 1024 * 1024 }) : Readable.from([]),
    ) as ReadableStream<Uint8Array>,
})
