import { createHash, randomBytes } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import type { ByteRange, Provider, Source } from '#lib/catalog/providers/provider.ts'

/** All bytes of a stream. */
export const bytesOf = async (stream: ReadableStream<Uint8Array>): Promise<Buffer> => {
  const chunks: Uint8Array[] = []
  for await (const chunk of stream) chunks.push(chunk)
  return Buffer.concat(chunks)
}
const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex')

interface Counted extends Source {
  /** Bytes that were asked for. */
  asked(): number
}

/** Bytes in memory as a source; with `breakAt` the stream fails when it comes there. */
export const sourceOf = (bytes: Buffer, breakAt = Infinity): Counted => {
  let asked = 0
  return {
    size: bytes.length,
    asked: () => asked,
    read({ start, end }: ByteRange) {
      asked += end - start
      let at = start
      return new ReadableStream<Uint8Array>({
        pull(controller) {
          if (at >= breakAt) return controller.error(new Error('the line is cut'))
          if (at >= end) return controller.close()
          const next = Math.min(at + 64 * 1024, end, Math.max(breakAt, at + 1))
          controller.enqueue(bytes.subarray(at, next))
          at = next
        },
      })
    },
  }
}

/**
 * How a write that was cut off goes on: it reads only what is missing; it reads all, and sends what is missing; or it
 * begins anew, where the storage keeps nothing of an upload that did not end.
 */
type Resume = 'reads the rest' | 'compares' | 'begins anew'

interface Options {
  readonly resume?: Resume
  /** Bytes that went to the storage so far, for which else stands what was asked of the source. */
  readonly sent?: () => number
  /** Whether the storage keeps the SHA-256 of what it was given. */
  readonly keepsSha256?: boolean
}

/**
 * What every provider must do. `open` gives one on an empty place; `again` another on the place of the one that was opened
 * last, as another process has it; `piece`: bytes of the smallest piece that a write that was cut off may have to send
 * again.
 */
export const providerContract = (
  open: () => Promise<Provider>,
  again: () => Promise<Provider>,
  piece: number,
  { resume = 'reads the rest', sent, keepsSha256 = true }: Options = {},
): void => {
  const paths = async (provider: Provider, folder = ''): Promise<string[]> => {
    const found: string[] = []
    for await (const { path } of provider.list(folder)) found.push(path)
    return found.sort()
  }

  describe('a provider of storage', () => {
    test('gives back what it was given, whole and in parts', async () => {
      const provider = await open()
      const bytes = randomBytes(3 * 1024 * 1024 + 17)
      await provider.write('win11/win11-arm64-24.2.pdpack', sourceOf(bytes), { sha256: sha256(bytes) })
      const path = 'win11/win11-arm64-24.2.pdpack'
      expect(await provider.stat(path)).toMatchObject({ path, size: bytes.length })
      expect((await bytesOf(await provider.read(path))).equals(bytes)).toBe(true)
      for (const [start, end] of [
        [0, 1],
        [1_000_000, 2_000_001],
        [bytes.length - 1, bytes.length],
      ] as const)
        expect(
          (await bytesOf(await provider.read(path, { range: { start, end } }))).equals(bytes.subarray(start, end)),
        ).toBe(true)
    })

    test('keeps an empty object, and names of all scripts', async () => {
      const provider = await open()
      for (const path of ['empty', 'ordner mit leerzeichen/größe+%20&=.meta', '仮想/マシン'])
        await provider.write(path, sourceOf(Buffer.alloc(0)))
      expect(await paths(provider)).toHaveLength(3)
      expect(await provider.stat('empty')).toMatchObject({ size: 0 })
      expect(await bytesOf(await provider.read('empty'))).toHaveLength(0)
    })

    test('says what is not there', async () => {
      const provider = await open()
      expect(await provider.stat('no/such')).toBeUndefined()
      await expect(provider.read('no/such')).rejects.toMatchObject({ fault: 'not-found' })
      await provider.remove('no/such')
      expect(await paths(provider, 'no')).toEqual([])
    })

    test('replaces an object as a whole, and an unfinished write changes nothing', async () => {
      const provider = await open()
      const [first, second] = [randomBytes(100_000), randomBytes(200_000)]
      await provider.write('a', sourceOf(first))
      await expect(provider.write('a', sourceOf(second, 130_000))).rejects.toThrow('the line is cut')
      expect((await bytesOf(await provider.read('a'))).equals(first)).toBe(true)
      expect(await paths(provider)).toEqual(['a'])
      await provider.write('a', sourceOf(second))
      expect((await bytesOf(await provider.read('a'))).equals(second)).toBe(true)
    })

    test('goes on with a write that was cut off', async () => {
      const provider = await open()
      const bytes = randomBytes(3 * piece)
      const options = { sha256: sha256(bytes) }
      await expect(provider.write('big', sourceOf(bytes, 2 * piece + 5), options)).rejects.toThrow('the line is cut')
      expect(await provider.stat('big')).toBeUndefined()
      const source = sourceOf(bytes)
      const before = sent?.() ?? 0
      const seen: number[] = []
      await provider.write('big', source, { ...options, onProgress: done => void seen.push(done) })
      const read = (sent ?? source.asked)() - before
      expect(read).toBeLessThanOrEqual(resume === 'reads the rest' || sent ? 2 * piece : bytes.length)
      if (resume !== 'begins anew') expect(seen[0]).toBeGreaterThanOrEqual(piece)
      expect(seen.at(-1)).toBe(bytes.length)
      expect(sha256(await bytesOf(await provider.read('big')))).toBe(options.sha256)
    })

    test('goes on in another process, and gives nothing out that was wrong', async () => {
      const first = await open()
      const bytes = randomBytes(4 * piece + 17)
      const options = { sha256: sha256(bytes) }
      const wrong = Buffer.concat([randomBytes(piece), bytes.subarray(piece)])
      await expect(first.write('a', sourceOf(wrong, 4 * piece + 5), options)).rejects.toThrow('cut')
      const provider = await again()
      const before = sent?.() ?? 0
      if (resume === 'reads the rest') {
        await expect(provider.write('a', sourceOf(bytes), options)).rejects.toMatchObject({ fault: 'conflict' })
        expect(await provider.stat('a')).toBeUndefined()
      }
      await provider.write('a', sourceOf(bytes), options)
      // The piece that was wrong, what had not come, and a few words.
      if (sent) expect(sent() - before).toBeLessThan(1.2 * piece)
      if (sent) expect(sent() - before).toBeGreaterThan(piece)
      expect(sha256(await bytesOf(await provider.read('a')))).toBe(options.sha256)
    })

    test('says of an object when it came, and its SHA-256 where that is kept', async () => {
      const provider = await open()
      const [small, large] = [randomBytes(1_000), randomBytes(piece + 1)]
      await provider.write('small', sourceOf(small), { sha256: sha256(small) })
      await provider.write('large', sourceOf(large), { sha256: sha256(large) })
      for (const [path, bytes] of [
        ['small', small],
        ['large', large],
      ] as const) {
        expect(await provider.stat(path)).toMatchObject({
          size: bytes.length,
          modifiedAt: expect.stringMatching(/^20.*Z$/),
          ...(keepsSha256 && { sha256: sha256(bytes) }),
        })
      }
    })

    test('says which bytes there are', async () => {
      const provider = await open()
      await provider.write('a', sourceOf(randomBytes(10)))
      for (const [start, end] of [
        [5, 11],
        [10, 11],
        [3, 3],
        [-1, 2],
      ] as const)
        await expect(provider.read('a', { range: { start, end } })).rejects.toMatchObject({ fault: 'invalid' })
    })

    test('one object is written by one at a time', async () => {
      const provider = await open()
      const [asked, free] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
      const bytes = sourceOf(randomBytes(piece))
      const slow: Source = {
        size: piece,
        read(range) {
          asked.resolve()
          const reader = bytes.read(range).getReader()
          return new ReadableStream<Uint8Array>({
            async pull(controller) {
              await free.promise
              const { done, value } = await reader.read()
              if (done) controller.close()
              else controller.enqueue(value)
            },
          })
        },
      }
      const first = provider.write('a', slow)
      await asked.promise
      await expect(provider.write('a', sourceOf(Buffer.alloc(1)))).rejects.toMatchObject({ fault: 'conflict' })
      free.resolve()
      await first
      expect(await provider.stat('a')).toMatchObject({ size: piece })
    })

    test('ends a read that nobody wants any more', async () => {
      const provider = await open()
      await provider.write('a', sourceOf(randomBytes(20 * 1024 * 1024)))
      const controller = new AbortController()
      const reader = (await provider.read('a', { signal: controller.signal })).getReader()
      await reader.read()
      controller.abort(new Error('not wanted'))
      const rest = async (): Promise<void> => {
        while (!(await reader.read()).done);
      }
      await expect(rest()).rejects.toThrow(/not wanted|aborted/)
      await (await provider.read('a')).cancel()
    })

    test('refuses bytes that are not what they are said to be', async () => {
      const provider = await open()
      const said = sha256(randomBytes(10))
      await expect(provider.write('a', sourceOf(randomBytes(10)), { sha256: said })).rejects.toThrow('SHA-256')
      expect(await provider.stat('a')).toBeUndefined()
      await provider.write('a', sourceOf(Buffer.from('before')))
      const large = sourceOf(randomBytes(piece + 1))
      await expect(provider.write('a', large, { sha256: said })).rejects.toMatchObject({ fault: 'conflict' })
      expect((await bytesOf(await provider.read('a'))).toString()).toBe('before')
    })

    test('lists a folder and what is below it, and not what begins in the same way', async () => {
      const provider = await open()
      for (const path of ['win1/a', 'win1/deep/b', 'win10/c', 'win1.meta'])
        await provider.write(path, sourceOf(Buffer.from('x')))
      expect(await paths(provider, 'win1')).toEqual(['win1/a', 'win1/deep/b'])
      await provider.remove('win1/a')
      expect(await paths(provider)).toEqual(['win1.meta', 'win1/deep/b', 'win10/c'])
    })

    test.each(['', '/a', 'a/', 'a//b', '.', '..', 'a/../b', './a', 'a\\b', 'a\0b', 'x'.repeat(2_000)])(
      'refuses what is not a path: %j',
      async path => {
        const provider = await open()
        await expect(provider.write(path, sourceOf(Buffer.from('x')))).rejects.toMatchObject({ fault: 'invalid' })
        expect(await paths(provider)).toEqual([])
      },
    )

    test('ends at once when nobody wants it any more', async () => {
      const provider = await open()
      const controller = new AbortController()
      const bytes = randomBytes(2 * 1024 * 1024)
      const write = provider.write('a', sourceOf(bytes), {
        signal: controller.signal,
        onProgress: done => done > 100_000 && controller.abort(new Error('not wanted')),
      })
      await expect(write).rejects.toThrow('not wanted')
      expect(await provider.stat('a')).toBeUndefined()
    })
  })
}
