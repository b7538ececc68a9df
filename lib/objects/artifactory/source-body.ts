import { createHash } from 'node:crypto'
import { ServiceError } from '#lib/errors.ts'
import type { RequestBody } from '../http/request-body.ts'
import { checkDigest } from '../port/guard-writes.ts'
import type { Source, WriteOptions } from '../port/provider.ts'

/**
 * Makes the body of a request of a source. The last chunk is sent only when the digest of all bytes is the expected one, so
 * wrong bytes are never sent completely. Reading it throws `conflict` then, and `upstream` when the source ends early.
 */
export const createSourceBody = (
  path: string,
  source: Source,
  { sha256, signal, onProgress }: WriteOptions,
): RequestBody => {
  const { size } = source
  if (size === 0) checkDigest(path, createHash('sha256').digest('hex'), sha256)
  return {
    size,
    async *open() {
      const digest = createHash('sha256')
      let sentBytes = 0
      for await (const chunk of source.read({ start: 0, end: size })) {
        signal?.throwIfAborted()
        if (chunk.byteLength === 0) continue
        digest.update(chunk)
        sentBytes += chunk.byteLength
        if (sentBytes === size) checkDigest(path, digest.digest('hex'), sha256)
        if (sentBytes > size) break
        yield chunk
        onProgress?.(sentBytes)
      }
      if (sentBytes !== size)
        throw new ServiceError(
          'upstream',
          `Of ${size} bytes of ${path} ${sentBytes > size ? 'more' : `only ${sentBytes}`} came.`,
        )
    },
  }
}
