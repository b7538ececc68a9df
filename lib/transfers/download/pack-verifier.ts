import { createHash } from 'node:crypto'
import { ServiceError } from '#lib/errors.ts'
import type { PackSource } from './pack-source.ts'

/** Verifies a pack while somebody reads it. */
interface PackVerifier {
  /** The bytes of the pack. */
  readonly stream: ReadableStream<Uint8Array>
  /** Called after the whole stream has been read. Throws `upstream` when the pack is not what the catalog says. */
  verifyComplete(): void
}

/** Creates a verifier of size and digest. MD5 counts only for packs without a known SHA-256. */
export const createPackVerifier = (
  pack: ReadableStream<Uint8Array>,
  { size, sha256, md5, manifest }: PackSource,
): PackVerifier => {
  const digest = createHash(sha256 === undefined ? 'md5' : 'sha256')
  let received = 0
  const tap = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      digest.update(chunk)
      received += chunk.byteLength
      controller.enqueue(chunk)
    },
  })
  return {
    stream: pack.pipeThrough(tap),
    verifyComplete() {
      const expected = sha256 ?? md5
      const isDigestRight = expected === undefined || digest.digest('hex') === expected
      if (received === size && isDigestRight) return
      const what = received !== size ? 'size' : sha256 === undefined ? 'MD5' : 'SHA-256'
      throw new ServiceError(
        'upstream',
        `The pack of ${manifest.name} is not what the catalog says: its ${what} is another.`,
      )
    },
  }
}
