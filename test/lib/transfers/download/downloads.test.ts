import { createHash, randomBytes } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { ServiceError } from '#lib/errors.ts'
import { createDownloads, type Downloads } from '#lib/transfers/download/downloads.ts'
import type { PackSource } from '#lib/transfers/download/pack-source.ts'
import { openWorkFolders } from '#lib/platform/work-folders.ts'
import { newFolder } from '../../../support/folder.ts'
import { type Give, packSource, stalled, streamOf } from '../../../support/pack-source.ts'

const piece = 16 * 1024
const bytes = randomBytes(10 * piece + 77)

const open = async (path: string): Promise<Downloads> => createDownloads(await openWorkFolders(path))

interface Pull {
  readonly signal?: AbortSignal
  readonly onProgress?: (bytes: number) => void
}

/** Leases a pack and reads all of it; gives its digest. */
const pull = async (downloads: Downloads, source: PackSource, { signal, onProgress = () => {} }: Pull = {}) => {
  await using lease = await downloads.leasePack(source, { signal: signal ?? new AbortController().signal, onProgress })
  const digest = createHash('sha256')
  for await (const chunk of lease.stream()) digest.update(chunk)
  return digest.digest('hex')
}

const flipped = (wanted: Buffer): Buffer => {
  const wrong = Buffer.from(wanted)
  wrong[wrong.length >> 1]! ^= 1
  return wrong
}
/** What is wrong the first time, and right when it is asked for again. */
const once =
  (wrong: Give): Give =>
  (wanted, how) =>
    how.attempt === 1 && how.range.start === 3 * piece ? wrong(wanted, how) : streamOf(wanted)

const cut: Give = wanted => {
  let given = false
  return new ReadableStream({
    pull(controller) {
      if (given) return controller.error(new ServiceError('upstream', 'the line is cut'))
      given = true
      controller.enqueue(wanted.subarray(0, wanted.length >> 1))
    },
  })
}
const tooLong: Give = wanted => streamOf(wanted, Buffer.from('x'))
const tooShort: Give = wanted => streamOf(wanted.subarray(1))
const wrongDigest: Give = wanted => streamOf(flipped(wanted))
const refused: Give = () => Promise.reject(new ServiceError('timeout', 'the provider does not answer'))

describe.concurrent('a provider that', () => {
  // No pauses between attempts; for all of these tests together, since they run side by side.
  beforeAll(() => void vi.spyOn(Math, 'random').mockReturnValue(0))
  afterAll(() => void vi.restoreAllMocks())

  test.each([
    ['cuts its stream', cut],
    ['sends too much', tooLong],
    ['sends too little', tooShort],
    ['sends something else', wrongDigest],
    ['does not answer', refused],
  ] as const)('%s once is asked again, for this piece alone', async (_, wrong) => {
    using folder = newFolder()
    const downloads = await open(folder.path)
    const { source, sha256, bytesAsked } = packSource(bytes, piece, once(wrong))
    const seen: number[] = []
    expect(await pull(downloads, source, { onProgress: done => void seen.push(done) })).toBe(sha256)
    expect(bytesAsked()).toBe(bytes.length + piece)
    expect(seen).toEqual(seen.toSorted((a, b) => a - b))
    expect(seen.at(-1)).toBe(bytes.length)
    expect(readdirSync(folder.path)).toEqual([])
  })

  test.each([
    ['cuts its stream', cut, 'the line is cut'],
    ['sends too much', tooLong, 'more of the pack than'],
    ['sends too little', tooShort, `${piece - 1} bytes of a range of ${piece} bytes`],
    ['sends something else', wrongDigest, 'SHA-256'],
  ] as const)(
    '%s each time is given up after the tenth, and what is there is kept for a day',
    async (_, wrong, reason) => {
      using folder = newFolder()
      const downloads = await open(folder.path)
      const always: Give = (wanted, how) => (how.range.start === 5 * piece ? wrong(wanted, how) : streamOf(wanted))
      const { source, asked } = packSource(bytes, piece, always)
      await expect(pull(downloads, source)).rejects.toMatchObject({
        fault: 'upstream',
        message: expect.stringContaining(reason),
      })
      expect(asked.filter(({ start }) => start === 5 * piece)).toHaveLength(10)
      const [kept] = readdirSync(folder.path)
      expect(readdirSync(join(folder.path, kept!)).sort()).toEqual(['kept', 'pack', 'pieces'])
    },
  )

  test('refuses for good is not asked again', async () => {
    using folder = newFolder()
    const downloads = await open(folder.path)
    const { source, asked } = packSource(bytes, piece, () => Promise.reject(new ServiceError('forbidden', 'no')))
    await expect(pull(downloads, source)).rejects.toMatchObject({ fault: 'forbidden' })
    expect(new Set(asked.map(({ start }) => start)).size).toBe(asked.length)
    expect(readdirSync(folder.path)).toEqual([])
  })

  test('is slow is awaited, and the first bytes can be read before the rest', async () => {
    using folder = newFolder()
    const downloads = await open(folder.path)
    const first = Promise.withResolvers<void>()
    const { source, sha256 } = packSource(bytes, piece, async (wanted, { range, signal }) => {
      if (range.start > 0) await first.promise
      await wait(5, undefined, { signal })
      return streamOf(wanted.subarray(0, 100), wanted.subarray(100))
    })
    await using lease = await downloads.leasePack(source, {
      signal: new AbortController().signal,
      onProgress: () => {},
    })
    const digest = createHash('sha256')
    for await (const chunk of lease.stream()) {
      digest.update(chunk)
      first.resolve()
    }
    expect(digest.digest('hex')).toBe(sha256)
  })
})

describe('the download of a pack', () => {
  /** Gives the first pieces and stalls in the others until `go`. */
  const stallingAfter = (pieces: number) => {
    const go = Promise.withResolvers<void>()
    const give: Give = async (wanted, { range, signal }) => {
      if (range.start < pieces * piece) return streamOf(wanted)
      const { promise, reject } = Promise.withResolvers<never>()
      signal.addEventListener('abort', () => reject(signal.reason as Error))
      await Promise.race([go.promise, promise])
      return streamOf(wanted)
    }
    return { give, go: go.resolve }
  }
  const after = (count: number) => {
    const { promise, resolve } = Promise.withResolvers<void>()
    return { reached: promise, onProgress: (done: number) => (done >= count ? resolve() : undefined) }
  }

  test('leaves nothing when it is cancelled, and the next one starts from the beginning', async () => {
    using folder = newFolder()
    const downloads = await open(folder.path)
    const { source } = packSource(bytes, piece, (wanted, { range, signal }) =>
      range.start < 3 * piece ? streamOf(wanted) : stalled(wanted.subarray(0, 9), signal),
    )
    const controller = new AbortController()
    const { reached, onProgress } = after(3 * piece)
    const pulled = pull(downloads, source, { signal: controller.signal, onProgress })
    await reached
    controller.abort(new ServiceError('conflict', 'The job was cancelled.'))
    await expect(pulled).rejects.toThrow('The job was cancelled.')
    expect(readdirSync(folder.path)).toEqual([])
    const again = packSource(bytes, piece)
    expect(await pull(downloads, again.source)).toBe(again.sha256)
    expect(again.bytesAsked()).toBe(bytes.length)
  })

  test('continues for one of two callers when the other cancels, whoever came first', async () => {
    for (const cancelled of [0, 1]) {
      using folder = newFolder()
      const downloads = await open(folder.path)
      const { give, go } = stallingAfter(4)
      const { source, sha256, bytesAsked } = packSource(bytes, piece, give)
      const controllers = [new AbortController(), new AbortController()]
      const parts = [after(4 * piece), after(4 * piece)]
      const pulls = controllers.map(({ signal }, at) =>
        pull(downloads, source, { signal, onProgress: parts[at]!.onProgress }),
      )
      await Promise.all(parts.map(({ reached }) => reached))
      controllers[cancelled]!.abort(new ServiceError('conflict', 'The job was cancelled.'))
      await expect(pulls[cancelled]).rejects.toThrow('The job was cancelled.')
      expect(readdirSync(folder.path)).toHaveLength(1)
      go()
      expect(await pulls[1 - cancelled]).toBe(sha256)
      expect(bytesAsked()).toBe(bytes.length)
      expect(readdirSync(folder.path)).toEqual([])
    }
  })

  test('starts again for a caller who comes while the last lease is released', async () => {
    using folder = newFolder()
    const downloads = await open(folder.path)
    const first = packSource(bytes, piece, (wanted, { signal }) => stalled(wanted.subarray(0, 9), signal))
    const lease = await downloads.leasePack(first.source, {
      signal: new AbortController().signal,
      onProgress: () => {},
    })
    const released = lease[Symbol.asyncDispose]()
    const { source, sha256 } = packSource(bytes, piece)
    expect(await pull(downloads, source)).toBe(sha256)
    await released
    expect(readdirSync(folder.path)).toEqual([])
  })

  test('from a bad origin does not affect the download from another', async () => {
    using folder = newFolder()
    const downloads = await open(folder.path)
    const wrong = packSource(bytes, piece, () => Promise.reject(new ServiceError('forbidden', 'no')), 'there')
    const right = packSource(bytes, piece)
    const [one, other] = await Promise.allSettled([pull(downloads, wrong.source), pull(downloads, right.source)])
    expect(one).toMatchObject({ status: 'rejected', reason: { fault: 'forbidden' } })
    expect(other).toEqual({ status: 'fulfilled', value: right.sha256 })
    expect(readdirSync(folder.path)).toEqual([])
  })

  test('stays on disk after a shutdown of the service, and continues from there', async () => {
    using folder = newFolder()
    const { give } = stallingAfter(6)
    const { source } = packSource(bytes, piece, give)
    const controller = new AbortController()
    const { reached, onProgress } = after(6 * piece)
    const pulled = pull(await open(folder.path), source, { signal: controller.signal, onProgress })
    await reached
    controller.abort(new ServiceError('unavailable', 'The service was shut down.'))
    await expect(pulled).rejects.toMatchObject({ fault: 'unavailable' })
    const again = packSource(bytes, piece)
    expect(await pull(await open(folder.path), again.source)).toBe(again.sha256)
    expect(again.bytesAsked()).toBe(bytes.length - 6 * piece)
    expect(readdirSync(folder.path)).toEqual([])
  })
})
