import { createHash } from 'node:crypto'
import { ServiceError } from '#lib/errors.ts'
import type { Body } from './http/sent-body.ts'
import type { Source, WriteOptions } from './provider.ts'

const checkDigest = (path: string, digest: string, said: string | undefined): void => {
  if (said !== undefined && digest !== said)
    throw new ServiceError('conflict', `The bytes of ${path} are not those that their SHA-256 says.`)
}

/**
 * A source as a request's body. Its last bytes are held back until all have the digest that they should have: what is
 * wrong is never sent as a whole. Fails with `conflict` then, and with `upstream` when the source ends early.
 */
export const bodyOfSource = (path: string, source: Source, { sha256, signal, onProgress }: WriteOptions): Body => {
  const { size } = source
  if (size === 0) checkDigest(path, createHash('sha256').digest('hex'), sha256)
  return {
    size,
    async *open() {
      const digest = createHash('sha256')
      let done = 0
      for await (const chunk of source.read({ start: 0, end: size })) {
        signal?.throwIfAborted()
        if (chunk.byteLength === 0) continue
        digest.update(chunk)
        done += chunk.byteLength
        if (done === size) checkDigest(path, digest.digest('hex'), sha256)
        if (done > size) break
        yield chunk
        onProgress?.(done)
      }
      if (done !== size)
        throw new ServiceError('upstream', `Of ${size} bytes of ${path} ${done > size ? 'more' : `only ${done}`} came.`)
    },
  }
}
