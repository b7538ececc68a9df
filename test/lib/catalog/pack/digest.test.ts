import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createDigest } from '#lib/catalog/pack/digest.ts'

const hashOf = (algorithm: string, bytes: Uint8Array): string => createHash(algorithm).update(bytes).digest('hex')

describe('the digest of a pack', () => {
  test('is that of the whole and of each piece, however it comes', () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 5000 }),
        fc.integer({ min: 1, max: 2000 }),
        fc.integer({ min: 1, max: 6000 }),
        (bytes, pieceSize, part) => {
          const digest = createDigest(pieceSize)
          for (let at = 0; at < bytes.length; at += part) digest.update(bytes.subarray(at, at + part))
          const pieces = Array.from({ length: Math.ceil(bytes.length / pieceSize) }, (_, index) =>
            hashOf('sha256', bytes.subarray(index * pieceSize, (index + 1) * pieceSize)),
          )
          expect(digest.end()).toEqual({
            size: bytes.length,
            sha256: hashOf('sha256', bytes),
            pieceSize,
            pieces,
          })
        },
      ),
    )
  })

  test('of a whole number of pieces has no empty one', () => {
    const digest = createDigest(4)
    digest.update(Buffer.from('12345678'))
    expect(digest.end().pieces).toHaveLength(2)
  })
})
