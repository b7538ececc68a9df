import { setImmediate as turn } from 'node:timers/promises'
import fc from 'fast-check'
import { afterEach, describe, expect, test, vi } from 'vitest'
import type { ListedContent } from '#lib/packs/chunks/chunk-index.ts'
import { lockMilliseconds, acquireRepositoryLock } from '#lib/packs/chunk-store/repository-lock.ts'
import { readChunkedContent } from '#lib/packs/chunk-store/read-chunked.ts'
import { createChunkFetcher, createStoredChunkReader } from '#lib/packs/chunk-store/stored-chunk.ts'
import { type WrittenContent, writeChunkedContent } from '#lib/packs/chunk-store/write-chunked.ts'
import { createLocalStorage } from '#lib/objects/local/local-storage.ts'
import type { Provider } from '#lib/objects/port/provider.ts'
import { newFolder } from '../../../support/folder.ts'
import { bytesOf, noise, split } from './bytes.ts'
import { createMemoryProvider } from './memory-provider.ts'

const mebibyte = 1024 * 1024

const write = async (provider: Provider, bytes: Uint8Array, signal?: AbortSignal): Promise<WrittenContent> => {
  await using lock = await acquireRepositoryLock(provider, 'shared')
  return await writeChunkedContent(provider, lock, split(bytes, [65_536]), signal && { signal })
}
const chunkPaths = (list: ListedContent): string[] =>
  list.chunks.flatMap(one => ('sha256' in one ? [`chunks/${one.sha256.slice(0, 2)}/${one.sha256}`] : []))

/** How much can be read: bytes themselves would be shown one by one where they are not expected. */
const readLength = async (stream: Parameters<typeof bytesOf>[0]): Promise<number> => (await bytesOf(stream)).length

/** A disk: noise, a hole, text, a hole, and the first noise again. */
const disk = Buffer.concat([
  noise(5 * mebibyte, 1),
  Buffer.alloc(3 * mebibyte),
  Buffer.alloc(4 * mebibyte, 'All work and no play. '),
  Buffer.alloc(mebibyte),
  noise(5 * mebibyte, 1),
])

describe('a file that is stored as chunks', () => {
  afterEach(() => void vi.useRealTimers())

  test('is read as it was written, also from a real folder', async () => {
    using folder = newFolder()
    const provider = await createLocalStorage(folder.path)
    const { content: list, sentBytes } = await write(provider, disk)
    expect(
      (await bytesOf(readChunkedContent(createChunkFetcher(createStoredChunkReader(provider)), list))).equals(disk),
    ).toBe(true)
    const paths: string[] = []
    for await (const { path } of provider.list('')) paths.push(path)
    expect(paths.sort()).toEqual([...new Set(chunkPaths(list))].sort())
    // The first noise and what is left of the text.
    expect(sentBytes).toBeLessThan(5.1 * mebibyte)
    expect(sentBytes).toBeGreaterThan(4.9 * mebibyte)
  })

  test('is read as it was written, whatever its content', async () => {
    const part = fc.record({ seed: fc.nat(50), size: fc.nat(2 * mebibyte), zeros: fc.nat(mebibyte) })
    await fc.assert(
      fc.asyncProperty(fc.array(part, { maxLength: 5 }), async parts => {
        const bytes = Buffer.concat(parts.flatMap(({ seed, size, zeros }) => [noise(size, seed), Buffer.alloc(zeros)]))
        const provider = createMemoryProvider()
        const { content: list } = await write(provider, bytes)
        expect(list.size).toBe(bytes.length)
        expect(
          (await bytesOf(readChunkedContent(createChunkFetcher(createStoredChunkReader(provider)), list))).equals(
            bytes,
          ),
        ).toBe(true)
      }),
      { numRuns: 20 },
    )
  })

  test('sends each chunk once, within a file and in later calls', async () => {
    const asked: string[] = []
    const provider = createMemoryProvider(async what => {
      if (what.startsWith('stat')) asked.push(what.slice(5))
    })
    const first = await write(provider, disk)
    const different = [...new Set(chunkPaths(first.content))].sort()
    expect(different.length).toBeLessThan(chunkPaths(first.content).length)
    expect(first.sentChunks).toBe(different.length)
    expect(asked.sort()).toEqual(different)
    const again = await write(provider, disk)
    expect(again).toEqual({ ...first, sentChunks: 0, sentBytes: 0 })
  })

  test('does not send again what an interrupted push has sent', async () => {
    let left = 3
    const provider = createMemoryProvider(async what => {
      if (/^write chunks\/..\//.test(what) && (left -= 1) < 0) throw new Error('the line is cut')
    })
    await expect(write(provider, noise(20 * mebibyte, 3))).rejects.toThrow('the line is cut')
    const sent = provider.objects.size
    expect(sent).toBe(3)
    left = Infinity
    const { content: list, sentChunks } = await write(provider, noise(20 * mebibyte, 3))
    expect(sentChunks).toBe(chunkPaths(list).length - sent)
  })

  test('replaces an object that is larger than its chunk', async () => {
    const provider = createMemoryProvider()
    const { content: list } = await write(provider, noise(1000, 1))
    const [path = ''] = chunkPaths(list)
    provider.objects.set(path, { bytes: Buffer.alloc(1001), modifiedAt: Date.now() })
    expect((await write(provider, noise(1000, 1))).sentChunks).toBe(1)
    expect(await bytesOf(readChunkedContent(createChunkFetcher(createStoredChunkReader(provider)), list))).toEqual(
      noise(1000, 1),
    )
  })

  test('can be written by two callers at the same time', async () => {
    const provider = createMemoryProvider(() => turn())
    const both = await Promise.all([write(provider, disk), write(provider, disk)])
    expect(both[0].content).toEqual(both[1].content)
    expect(
      (
        await bytesOf(readChunkedContent(createChunkFetcher(createStoredChunkReader(provider)), both[0].content))
      ).equals(disk),
    ).toBe(true)
    expect([...provider.objects.keys()].filter(path => path.startsWith('chunks/holds'))).toEqual([])
  })

  test('is not read further when a chunk cannot be sent', async () => {
    const opened = Promise.withResolvers<void>()
    const provider = createMemoryProvider(what =>
      /^write chunks\/..\//.test(what) ? opened.promise : Promise.resolve(),
    )
    const size = 60 * mebibyte
    let read = 0
    const source = async function* (): AsyncGenerator<Uint8Array> {
      for await (const piece of split(noise(size, 4), [65_536])) {
        read += piece.length
        yield piece
      }
    }
    await using lock = await acquireRepositoryLock(provider, 'shared')
    const written = writeChunkedContent(provider, lock, source())
    await expect.poll(() => read).toBeGreaterThan(3 * mebibyte)
    let before = -1
    while (before !== read) {
      before = read
      for (let turns = 0; turns < 1000; turns += 1) await turn()
    }
    expect(read).toBeLessThanOrEqual(16 * mebibyte + 65_536)
    opened.resolve()
    await written
    expect(read).toBe(size)
  })

  test('is not written further after an abort', async () => {
    const controller = new AbortController()
    const provider = createMemoryProvider(async what => {
      if (/^write chunks\/..\//.test(what)) controller.abort(new Error('not wanted'))
    })
    await expect(write(provider, noise(20 * mebibyte, 5), controller.signal)).rejects.toThrow('not wanted')
    expect(provider.objects.size).toBeLessThanOrEqual(4)
  })

  test('is not complete when its lock has expired', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    const provider = createMemoryProvider(async what => {
      if (/^write chunks\/..\//.test(what)) vi.setSystemTime(Date.now() + lockMilliseconds)
    })
    await expect(write(provider, noise(1000, 6))).rejects.toMatchObject({ fault: 'conflict' })
  })

  test('cannot be read when a chunk is missing or damaged, and the error says why', async () => {
    const provider = createMemoryProvider()
    const { content: list } = await write(provider, disk)
    const textAt = list.chunks.findIndex(one => 'zeros' in one) + 1
    const paths = [list.chunks[1]!, list.chunks[textAt]!].flatMap(one => chunkPaths({ size: 0, chunks: [one] }))
    for (const path of paths) {
      const kept = provider.objects.get(path)!
      const flipped = Buffer.from(kept.bytes)
      flipped[flipped.length >> 1]! ^= 1
      const wrong = [
        flipped,
        kept.bytes.subarray(0, -1),
        Buffer.concat([kept.bytes, Buffer.alloc(5 * mebibyte)]),
        Buffer.alloc(0),
      ]
      for (const bytes of wrong) {
        provider.objects.set(path, { ...kept, bytes })
        await expect(
          readLength(readChunkedContent(createChunkFetcher(createStoredChunkReader(provider)), list)),
          path,
        ).rejects.toMatchObject({
          fault: 'upstream',
        })
      }
      provider.objects.delete(path)
      await expect(
        readLength(readChunkedContent(createChunkFetcher(createStoredChunkReader(provider)), list)),
      ).rejects.toThrow('is missing')
      provider.objects.set(path, kept)
    }
    expect(
      (await bytesOf(readChunkedContent(createChunkFetcher(createStoredChunkReader(provider)), list))).equals(disk),
    ).toBe(true)
  })

  test('cannot be decompressed to more than the size of the chunk', async () => {
    const provider = createMemoryProvider()
    const { content: list } = await write(provider, Buffer.alloc(4 * mebibyte, 'x'))
    const [bomb] = list.chunks
    if (!bomb || !('sha256' in bomb)) throw new Error('there is no chunk')
    const chunks = [{ ...bomb, size: 100_000 }]
    await expect(
      readLength(readChunkedContent(createChunkFetcher(createStoredChunkReader(provider)), { size: 100_000, chunks })),
    ).rejects.toThrow('cannot be unpacked')
  })

  test('is fetched only a little ahead of its reader', async () => {
    let reads = 0
    const provider = createMemoryProvider(async what => {
      if (what.startsWith('read')) reads += 1
    })
    const { content: list } = await write(provider, noise(30 * mebibyte, 7))
    const reader = readChunkedContent(createChunkFetcher(createStoredChunkReader(provider)), list)
    await reader.next()
    for (let turns = 0; turns < 1000; turns += 1) await turn()
    expect(reads).toBeLessThanOrEqual(5)
    await reader.return(undefined)
    for (let turns = 0; turns < 1000; turns += 1) await turn()
    expect(reads).toBeLessThanOrEqual(5)
  })
})
