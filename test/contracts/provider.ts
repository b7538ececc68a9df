import { createHash, randomFillSync } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { guardWrites } from '#lib/objects/port/guard-writes.ts'
import type { ByteRange, Provider, Source } from '#lib/objects/port/provider.ts'

/** Reads all bytes of a stream. */
export const readBytes = async (stream: ReadableStream<Uint8Array>): Promise<Buffer> => {
  const chunks: Uint8Array[] = []
  for await (const chunk of stream) chunks.push(chunk)
  return Buffer.concat(chunks)
}

/** Random bytes. Where there is no Node, only so many come at a time. */
const randomBytes = (size: number): Buffer => {
  const bytes = Buffer.alloc(size)
  for (let at = 0; at < size; at += 65_536) randomFillSync(bytes.subarray(at, at + 65_536))
  return bytes
}
const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex')

interface CountingSource extends Source {
  /** Bytes that were requested so far. */
  requestedBytes(): number
}

/** Makes a source of bytes in memory; its stream fails at the offset `breakAt`. */
export const createTestSource = (bytes: Buffer, breakAt = Infinity): CountingSource => {
  let requestedBytes = 0
  return {
    size: bytes.length,
    requestedBytes: () => requestedBytes,
    read({ start, end }: ByteRange) {
      requestedBytes += end - start
      let at = start
      return new ReadableStream<Uint8Array>({
        pull(controller) {
          if (at >= breakAt) return controller.error(new Error('the source was cut'))
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
 * How an interrupted write resumes: it reads only the missing bytes; it reads all bytes and sends the missing ones; or it
 * starts again, because the storage cannot resume uploads.
 */
type Resume = 'reads the rest' | 'reads all' | 'starts again'

interface Options {
  readonly resume?: Resume
  /** Bytes that were sent to the storage so far; without it the bytes that were requested of the source are counted. */
  readonly sent?: () => number
  /** Whether the storage stores the SHA-256 of objects. */
  readonly keepsSha256?: boolean
}

/**
 * What every provider must do.
 * @param openUnguarded opens a provider on an empty storage
 * @param reopen opens another provider on the storage that was opened last, as another process would
 * @param partSize bytes of the smallest part that a resumed write may have to send again
 */
export const providerContract = (
  openUnguarded: () => Promise<Provider>,
  reopen: () => Promise<Provider>,
  partSize: number,
  { resume = 'reads the rest', sent, keepsSha256 = true }: Options = {},
): void => {
  const open = async (): Promise<Provider> =>
    guardWrites(await openUnguarded(), { writing: new Set(), getKey: path => path })
  const paths = async (provider: Provider, folder = ''): Promise<string[]> => {
    const found: string[] = []
    for await (const { path } of provider.list(folder)) found.push(path)
    return found.sort()
  }

  describe('a provider', () => {
    test('reads what was written, whole and in ranges', async () => {
      const provider = await open()
      const bytes = randomBytes(3 * 1024 * 1024 + 17)
      await provider.write('win11/win11-arm64-24.2.pdpack', createTestSource(bytes), { sha256: sha256(bytes) })
      const path = 'win11/win11-arm64-24.2.pdpack'
      expect(await provider.stat(path)).toMatchObject({ path, size: bytes.length })
      expect((await readBytes(await provider.read(path))).equals(bytes)).toBe(true)
      for (const [start, end] of [
        [0, 1],
        [1_000_000, 2_000_001],
        [bytes.length - 1, bytes.length],
      ] as const)
        expect(
          (await readBytes(await provider.read(path, { range: { start, end } }))).equals(bytes.subarray(start, end)),
        ).toBe(true)
    })

    test('stores an empty object, and names in all scripts', async () => {
      const provider = await open()
      for (const path of ['empty', 'ordner mit leerzeichen/größe+%20&=.meta', '仮想/マシン'])
        await provider.write(path, createTestSource(Buffer.alloc(0)))
      expect(await paths(provider)).toHaveLength(3)
      expect(await provider.stat('empty')).toMatchObject({ size: 0 })
      expect(await readBytes(await provider.read('empty'))).toHaveLength(0)
    })

    test('reports a missing object', async () => {
      const provider = await open()
      expect(await provider.stat('no/such')).toBeUndefined()
      await expect(provider.read('no/such')).rejects.toMatchObject({ fault: 'not-found' })
      await provider.remove('no/such')
      expect(await paths(provider, 'no')).toEqual([])
    })

    test('replaces an object atomically, and a failed write changes nothing', async () => {
      const provider = await open()
      const [first, second] = [randomBytes(100_000), randomBytes(200_000)]
      await provider.write('a', createTestSource(first))
      await expect(provider.write('a', createTestSource(second, 130_000))).rejects.toThrow('the source was cut')
      expect((await readBytes(await provider.read('a'))).equals(first)).toBe(true)
      expect(await paths(provider)).toEqual(['a'])
      await provider.write('a', createTestSource(second))
      expect((await readBytes(await provider.read('a'))).equals(second)).toBe(true)
    })

    test('replaces only the given version of an object, and creates one only when there is none', async () => {
      const provider = await open()
      const [first, second, third] = [Buffer.from('first'), Buffer.from('second'), Buffer.from('third')]
      const read = async (): Promise<string> => (await readBytes(await provider.read('a.meta'))).toString()
      const versionNow = async (): Promise<string> => (await provider.stat('a.meta'))!.version!
      await provider.write('a.meta', createTestSource(first), { replaces: null })
      await expect(provider.write('a.meta', createTestSource(second), { replaces: null })).rejects.toMatchObject({
        fault: 'precondition-failed',
      })
      const seen = await versionNow()
      expect(seen).toBe(await versionNow())
      await provider.write('a.meta', createTestSource(second), { replaces: seen })
      await expect(provider.write('a.meta', createTestSource(third), { replaces: seen })).rejects.toMatchObject({
        fault: 'precondition-failed',
      })
      expect(await read()).toBe('second')
      await provider.remove('a.meta')
      await expect(provider.write('a.meta', createTestSource(third), { replaces: seen })).rejects.toMatchObject({
        fault: 'precondition-failed',
      })
      expect(await provider.stat('a.meta')).toBeUndefined()
    })

    test('resumes an interrupted write', async () => {
      const provider = await open()
      const bytes = randomBytes(3 * partSize)
      const options = { sha256: sha256(bytes) }
      await expect(provider.write('big', createTestSource(bytes, 2 * partSize + 5), options)).rejects.toThrow(
        'the source was cut',
      )
      expect(await provider.stat('big')).toBeUndefined()
      const source = createTestSource(bytes)
      const before = sent?.() ?? 0
      const seen: number[] = []
      await provider.write('big', source, { ...options, onProgress: done => void seen.push(done) })
      const read = (sent ?? source.requestedBytes)() - before
      expect(read).toBeLessThanOrEqual(resume === 'reads the rest' || sent ? 2 * partSize : bytes.length)
      if (resume !== 'starts again') expect(seen[0]).toBeGreaterThanOrEqual(partSize)
      expect(seen.at(-1)).toBe(bytes.length)
      expect(sha256(await readBytes(await provider.read('big')))).toBe(options.sha256)
    })

    test('resumes a write in another process, and never reads wrong bytes', async () => {
      const first = await open()
      const bytes = randomBytes(4 * partSize + 17)
      const options = { sha256: sha256(bytes) }
      const wrong = Buffer.concat([randomBytes(partSize), bytes.subarray(partSize)])
      await expect(first.write('a', createTestSource(wrong, 4 * partSize + 5), options)).rejects.toThrow('cut')
      const provider = await reopen()
      const before = sent?.() ?? 0
      if (resume === 'reads the rest') {
        await expect(provider.write('a', createTestSource(bytes), options)).rejects.toMatchObject({ fault: 'conflict' })
        expect(await provider.stat('a')).toBeUndefined()
      }
      await provider.write('a', createTestSource(bytes), options)
      // The wrong part, the missing bytes, and a few headers.
      if (sent) expect(sent() - before).toBeLessThan(1.2 * partSize)
      if (sent) expect(sent() - before).toBeGreaterThan(partSize)
      expect(sha256(await readBytes(await provider.read('a')))).toBe(options.sha256)
    })

    test('gives the time of an object, and its SHA-256 when the storage stores that', async () => {
      const provider = await open()
      const [small, large] = [randomBytes(1_000), randomBytes(partSize + 1)]
      await provider.write('small', createTestSource(small), { sha256: sha256(small) })
      await provider.write('large', createTestSource(large), { sha256: sha256(large) })
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

    test('refuses a range that the object does not have', async () => {
      const provider = await open()
      await provider.write('a', createTestSource(randomBytes(10)))
      for (const [start, end] of [
        [5, 11],
        [10, 11],
        [3, 3],
        [-1, 2],
      ] as const)
        await expect(provider.read('a', { range: { start, end } })).rejects.toMatchObject({ fault: 'invalid' })
    })

    test('refuses a second write of an object at the same time', async () => {
      const provider = await open()
      const [requestedBytes, free] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
      const bytes = createTestSource(randomBytes(partSize))
      const slow: Source = {
        size: partSize,
        read(range) {
          requestedBytes.resolve()
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
      await requestedBytes.promise
      await expect(provider.write('a', createTestSource(Buffer.alloc(1)))).rejects.toMatchObject({ fault: 'conflict' })
      free.resolve()
      await first
      expect(await provider.stat('a')).toMatchObject({ size: partSize })
    })

    test('ends a read after an abort', async () => {
      const provider = await open()
      await provider.write('a', createTestSource(randomBytes(20 * 1024 * 1024)))
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

    test('refuses bytes that do not match their SHA-256', async () => {
      const provider = await open()
      const said = sha256(randomBytes(10))
      await expect(provider.write('a', createTestSource(randomBytes(10)), { sha256: said })).rejects.toThrow('SHA-256')
      expect(await provider.stat('a')).toBeUndefined()
      await provider.write('a', createTestSource(Buffer.from('before')))
      const large = createTestSource(randomBytes(partSize + 1))
      await expect(provider.write('a', large, { sha256: said })).rejects.toMatchObject({ fault: 'conflict' })
      expect((await readBytes(await provider.read('a'))).toString()).toBe('before')
    })

    test('lists a folder and its subfolders, and not other names with the same prefix', async () => {
      const provider = await open()
      for (const path of ['win1/a', 'win1/deep/b', 'win10/c', 'win1.meta'])
        await provider.write(path, createTestSource(Buffer.from('x')))
      expect(await paths(provider, 'win1')).toEqual(['win1/a', 'win1/deep/b'])
      await provider.remove('win1/a')
      expect(await paths(provider)).toEqual(['win1.meta', 'win1/deep/b', 'win10/c'])
    })

    test.each(['', '/a', 'a/', 'a//b', '.', '..', 'a/../b', './a', 'a\\b', 'a\0b', 'x'.repeat(2_000)])(
      'refuses an invalid path: %j',
      async path => {
        const provider = await open()
        await expect(provider.write(path, createTestSource(Buffer.from('x')))).rejects.toMatchObject({
          fault: 'invalid',
        })
        expect(await paths(provider)).toEqual([])
      },
    )

    test('ends a write after an abort', async () => {
      const provider = await open()
      const controller = new AbortController()
      const bytes = randomBytes(2 * 1024 * 1024)
      const write = provider.write('a', createTestSource(bytes), {
        signal: controller.signal,
        onProgress: done => done > 100_000 && controller.abort(new Error('not wanted')),
      })
      await expect(write).rejects.toThrow('not wanted')
      expect(await provider.stat('a')).toBeUndefined()
    })
  })
}
