import { createHash, randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createDigest } from '#lib/packs/digest.ts'
import { createDigestThreads } from '#lib/packs/digest-threads.ts'
import { type StartWorker, createStartWorker } from '#lib/platform/workers.ts'

const startWorker = createStartWorker(new URL('../../../lib/entry/main.ts', import.meta.url))

const hashOf = (algorithm: string, bytes: Uint8Array): string => createHash(algorithm).update(bytes).digest('hex')

describe('the digest of a pack', () => {
  test('covers the whole and each range, in whatever parts the bytes arrive', () => {
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
            md5: hashOf('md5', bytes),
            rangeSize: pieceSize,
            rangeDigests: pieces,
          })
        },
      ),
    )
  })

  test('is the same from threads that get several parts at the same time', async () => {
    const parts = Array.from({ length: 24 }, (_, at) => randomBytes(at * 50_000))
    const digest = createDigest(1_000_000)
    await using threads = createDigestThreads(startWorker, 1_000_000)
    await Promise.all(parts.map(part => threads.update(part)))
    for (const part of parts) digest.update(part)
    expect(await threads.end()).toEqual(digest.end())
  })

  test('fails when one of its threads fails', async () => {
    const started: ReturnType<StartWorker>[] = []
    await using threads = createDigestThreads((...how) => {
      const worker = startWorker(...how)
      started.push(worker)
      return worker
    }, 1_000_000)
    await threads.update(Buffer.alloc(1))
    await started[0]!.terminate()
    await expect(threads.update(Buffer.alloc(1))).rejects.toMatchObject({ fault: 'internal' })
    await expect(threads.end()).rejects.toMatchObject({ fault: 'internal' })
  })

  test('of a whole number of ranges has no empty range', () => {
    const digest = createDigest(4)
    digest.update(Buffer.from('12345678'))
    expect(digest.end().rangeDigests).toHaveLength(2)
  })
})
