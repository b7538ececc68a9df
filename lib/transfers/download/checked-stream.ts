import { createHash } from 'node:crypto'
import { ServiceError } from '#lib/errors.ts'
import type { PackSource } from './pack-source.ts'

/** A stream that passes the bytes of a pack on. */
interface CheckedStream {
  readonly stream: ReadableStream<Uint8Array>
  /** To be called when all of it has been read. Throws `upstream` when that was not what the catalog says. */
  complete(): void
}

/** Counts and digests a pack on its way; the MD5 is for packs of which nothing better is known. */
export const checkedStream = (pack: ReadableStream<Uint8Array>, source: PackSource): CheckedStream => {
  const { size, sha256, md5, manifest } = source
  const digest = createHash(sha256 === undefined ? 'md5' : 'sha256')
  let seen = 0
  const pass = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      digest.update(chunk)
      seen += chunk.byteLength
      controller.enqueue(chunk)
    },
  })
  return {
    stream: pack.pipeThrough(pass),
    complete() {
      const wanted = sha256 ?? md5
      const right = wanted === undefined || digest.digest('hex') === wanted
      if (seen === size && right) return
      const what = seen !== size ? 'size' : sha256 === undefined ? 'MD5' : 'SHA-256'
      throw new ServiceError(
        'upstream',
        `The pack of ${manifest.name} is not what the catalog says: its ${what} is another.`,
      )
    },
  }
}
