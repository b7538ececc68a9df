import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { ListedContent } from '#lib/packs/chunks/chunk-index.ts'
import { acquireRepositoryLock } from '#lib/packs/chunk-store/repository-lock.ts'
import { readChunkedContent } from '#lib/packs/chunk-store/read-chunked.ts'
import { createChunkFetcher, createStoredChunkReader } from '#lib/packs/chunk-store/stored-chunk.ts'
import { type WrittenContent, writeChunkedContent } from '#lib/packs/chunk-store/write-chunked.ts'
import { createLocalStorage } from '#lib/objects/local/local-storage.ts'
import type { Provider } from '#lib/objects/port/provider.ts'
import { makeImage } from '../support/guests/ext4-image.ts'
import { newFolder } from '../support/folder.ts'
import { noise, withZeros } from '../lib/packs/chunk-store/bytes.ts'

const mebibyte = 1024 * 1024

/** The image with other bytes in these runs. */
const changed = async function* (image: string, runs: readonly { at: number; bytes: Buffer }[]) {
  let at = 0
  for await (const piece of createReadStream(image, { highWaterMark: mebibyte })) {
    const bytes = piece as Buffer
    for (const run of runs) {
      const [start, end] = [Math.max(run.at, at), Math.min(run.at + run.bytes.length, at + bytes.length)]
      if (start < end) run.bytes.copy(bytes, start - at, start - run.at, end - run.at)
    }
    yield bytes
    at += bytes.length
  }
}
const push = async (provider: Provider, source: AsyncIterable<Uint8Array>): Promise<WrittenContent> => {
  await using hold = await acquireRepositoryLock(provider, 'shared')
  return await writeChunkedContent(provider, hold, source)
}
const digestOf = async (source: AsyncIterable<Uint8Array>): Promise<string> => {
  const digest = createHash('sha256')
  for await (const bytes of source) digest.update(bytes)
  return digest.digest('hex')
}
/** Where each chunk begins, and its size. */
const dataOf = ({ chunks }: ListedContent): { at: number; size: number }[] => {
  let at = 0
  return chunks.flatMap(one => {
    const begin = at
    at += 'zeros' in one ? one.zeros : one.size
    return 'zeros' in one ? [] : [{ at: begin, size: one.size }]
  })
}

describe('versions of a disk', () => {
  test('of which 10 % were changed in 16 runs share all but 15 % of the bytes', { timeout: 300_000 }, async () => {
    using folder = newFolder()
    const { image, size: imageSize } = makeImage(folder.path)
    const provider = await createLocalStorage(join(folder.path, 'catalog'))
    const first = await push(provider, createReadStream(image))
    expect(first.content.size).toBe(imageSize)
    const data = dataOf(first.content)
    const total = data.reduce((sum, { size }) => sum + size, 0)
    expect(total).toBeGreaterThan(600 * mebibyte)
    expect(total).toBeLessThan(660 * mebibyte)

    const size = Math.floor(total / 160)
    const runs = Array.from({ length: 16 }, (_, run) => ({
      at: data[Math.floor((data.length / 17) * (run + 0.5))]!.at + 100_000,
      bytes: noise(size, 1000 + run),
    }))
    const second = await push(provider, changed(image, runs))
    expect(second.sentBytes).toBeGreaterThan(total * 0.1)
    expect(second.sentBytes).toBeLessThanOrEqual(total * 0.15)

    expect(
      await digestOf(
        withZeros(readChunkedContent(createChunkFetcher(createStoredChunkReader(provider)), second.content)),
      ),
    ).toBe(await digestOf(changed(image, runs)))
  })
})
