import fc from 'fast-check'
import { afterEach, describe, expect, test, vi } from 'vitest'
import type { ListedContent } from '#lib/packs/chunks/chunk-index.ts'
import { collectGarbage } from '#lib/packs/chunk-store/collect-garbage.ts'
import { lockMilliseconds, slackMilliseconds, acquireRepositoryLock } from '#lib/packs/chunk-store/repository-lock.ts'
import { readChunkedContent } from '#lib/packs/chunk-store/read-chunked.ts'
import { createChunkFetcher, createStoredChunkReader } from '#lib/packs/chunk-store/stored-chunk.ts'
import { writeChunkedContent } from '#lib/packs/chunk-store/write-chunked.ts'
import { createLocalStorage } from '#lib/objects/local/local-storage.ts'
import type { Provider } from '#lib/objects/port/provider.ts'
import { isFault, ServiceError } from '#lib/errors.ts'
import { newFolder } from '../../../support/folder.ts'
import { bytesOf, noise, split } from './bytes.ts'
import { createMemoryProvider, type MemoryProvider } from './memory-provider.ts'
import { createStepScheduler } from './step-scheduler.ts'

const day = 24 * 60 * 60_000
const grace = { graceMilliseconds: day }

const write = async (provider: Provider, bytes: Uint8Array): Promise<ListedContent> => {
  await using lock = await acquireRepositoryLock(provider, 'shared')
  return (await writeChunkedContent(provider, lock, split(bytes, [65_536]))).content
}
const from = (...lists: readonly ListedContent[]) =>
  async function* (): AsyncGenerator<ListedContent> {
    yield* lists
  }
const age = (provider: MemoryProvider, milliseconds: number): void => {
  for (const object of provider.objects.values()) object.modifiedAt -= milliseconds
}
const countOf = (list: ListedContent): number => list.chunks.filter(one => 'sha256' in one).length
const conflict = expect.objectContaining({ fault: 'conflict' })

describe('the collection of garbage', () => {
  afterEach(() => void vi.useRealTimers())

  test('removes the chunks that no index names, and only counts them in a dry run', async () => {
    const provider = createMemoryProvider()
    const [one, two] = [noise(9_000_000, 1), noise(9_000_000, 2)]
    const [live, dead] = [await write(provider, one), await write(provider, two)]
    age(provider, 2 * day)
    const foreign = ['chunks/readme', `chunks/00/${'f'.repeat(64)}`, 'chunks/holds/other', 'win11/win11.pdpack']
    for (const path of foreign) provider.objects.set(path, { bytes: Buffer.from('x'), modifiedAt: 0 })

    const expected = { kept: countOf(live), young: 0, removed: countOf(dead), bytes: 9_000_000 }
    const before = provider.objects.size
    expect(await collectGarbage(provider, from(live), { ...grace, dryRun: true })).toEqual(expected)
    expect(provider.objects.size).toBe(before)
    expect(await collectGarbage(provider, from(live), grace)).toEqual(expected)
    expect(provider.objects.size).toBe(countOf(live) + foreign.length)
    expect(
      (await bytesOf(readChunkedContent(createChunkFetcher(createStoredChunkReader(provider)), live))).equals(one),
    ).toBe(true)
    expect(await collectGarbage(provider, from(live), grace)).toEqual({ ...expected, removed: 0, bytes: 0 })
  })

  test('works on a real folder', async () => {
    using folder = newFolder()
    const provider = await createLocalStorage(folder.path)
    const [live, dead] = [await write(provider, noise(2_000_000, 1)), await write(provider, noise(2_000_000, 2))]
    expect(await collectGarbage(provider, from(live), grace)).toMatchObject({ young: countOf(dead), removed: 0 })
    const later = { ...grace, now: Date.now() + 2 * day }
    expect(await collectGarbage(provider, from(live), later)).toMatchObject({ removed: countOf(dead) })
    expect(
      (await bytesOf(readChunkedContent(createChunkFetcher(createStoredChunkReader(provider)), live))).length,
    ).toBe(2_000_000)
  })

  test('keeps chunks that are younger than the grace period or of unknown age', async () => {
    const provider = createMemoryProvider()
    await write(provider, noise(1000, 1))
    const [object] = provider.objects.values()
    const now = object!.modifiedAt + day
    expect(await collectGarbage(provider, from(), { ...grace, now })).toMatchObject({ kept: 1, young: 1, removed: 0 })
    const ageless: Provider = {
      ...provider,
      async *list(path) {
        for await (const { path: found, size } of provider.list(path)) yield { path: found, size }
      },
    }
    const later = { ...grace, now: now + 1 }
    expect(await collectGarbage(ageless, from(), later)).toMatchObject({ kept: 1, young: 1, removed: 0 })
    expect(await collectGarbage(provider, from(), later)).toMatchObject({ kept: 0, removed: 1 })
  })

  test('removes nothing when an index cannot be read', async () => {
    const provider = createMemoryProvider()
    await write(provider, noise(1000, 1))
    age(provider, 2 * day)
    const lists = async function* (): AsyncGenerator<ListedContent> {
      yield { size: 0, chunks: [] }
      throw new Error('the sidecar is damaged')
    }
    await expect(collectGarbage(provider, lists, grace)).rejects.toThrow('sidecar is damaged')
    expect(provider.objects.size).toBe(1)
  })

  test('excludes writers, and writers exclude it', async () => {
    const provider = createMemoryProvider()
    await write(provider, noise(1000, 1))
    age(provider, 2 * day)
    {
      await using writing = await acquireRepositoryLock(provider, 'shared')
      await using beside = await acquireRepositoryLock(provider, 'shared')
      await expect(collectGarbage(provider, from(), grace)).rejects.toThrow(conflict)
      expect(await collectGarbage(provider, from(), { ...grace, dryRun: true })).toMatchObject({ removed: 1 })
      await Promise.all([writing.renew(), beside.renew()])
    }
    const lists = async function* (): AsyncGenerator<ListedContent> {
      await expect(acquireRepositoryLock(provider, 'shared')).rejects.toThrow(conflict)
      await expect(collectGarbage(provider, from(), grace)).rejects.toThrow(conflict)
      yield* []
    }
    expect(await collectGarbage(provider, lists, grace)).toMatchObject({ removed: 1 })
    expect(provider.objects.size).toBe(0)
  })

  test('is refused by a storage that forbids removals, and leaves no lock there', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    const provider: Provider = {
      ...createMemoryProvider(),
      async remove() {
        throw new ServiceError('unsupported', 'The storage forbids to delete.')
      },
    }
    const list = await write(provider, noise(1000, 1))
    await expect(collectGarbage(provider, from(list), grace)).rejects.toMatchObject({ fault: 'unsupported' })
    for (let times = 0; times < 4; times += 1) {
      const lock = await acquireRepositoryLock(provider, 'shared')
      vi.setSystemTime(Date.now() + lockMilliseconds - 1)
      await lock.renew()
    }
    vi.setSystemTime(Date.now() + lockMilliseconds + slackMilliseconds + 1)
    expect(await write(provider, noise(1000, 1))).toEqual(list)
    expect(await collectGarbage(provider, from(), { graceMilliseconds: 0, dryRun: true })).toMatchObject({ removed: 1 })
  })

  test('respects a lock that is renewed, and for a while one that has expired', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    const provider = createMemoryProvider()
    const lock = await acquireRepositoryLock(provider, 'shared')
    for (let times = 0; times < 10; times += 1) {
      vi.setSystemTime(Date.now() + lockMilliseconds - 1)
      await lock.renew()
      expect(provider.objects.size).toBeLessThanOrEqual(2)
    }
    vi.setSystemTime(Date.now() + lockMilliseconds + slackMilliseconds)
    await expect(lock.renew()).rejects.toThrow(conflict)
    await expect(acquireRepositoryLock(provider, 'exclusive')).rejects.toThrow(conflict)
    vi.setSystemTime(Date.now() + 1)
    await using sweep = await acquireRepositoryLock(provider, 'exclusive')
    await sweep.renew()
    expect(provider.objects.size).toBe(1)
  })

  test('removes no chunk that a concurrent writer reuses, whatever the order of their steps', async () => {
    const outcomes = new Set<string>()
    const bytes = Buffer.concat([noise(1000, 1), Buffer.alloc(300_000), noise(1000, 2)])
    const refused = (error: unknown): string => {
      if (isFault(error, 'conflict')) return 'refused'
      throw error
    }
    /** How many steps each makes before it is the turn of the other. */
    const steps = fc.array(fc.oneof(fc.nat(3), fc.nat(30)), { minLength: 1, maxLength: 20 })
    await fc.assert(
      fc.asyncProperty(steps, async steps => {
        const provider = createMemoryProvider()
        await write(provider, bytes)
        age(provider, 2 * day)
        const order = steps.flatMap((count, at) => Array<0 | 1>(count).fill(at % 2 === 0 ? 0 : 1))
        const scheduler = createStepScheduler(() => order.shift() ?? 0)
        const [writer, collector] = ([0, 1] as const).map(who =>
          createMemoryProvider(() => scheduler.wait(who), provider.objects),
        )
        const committed: ListedContent[] = []

        const push = async (): Promise<string> => {
          await using lock = await acquireRepositoryLock(writer!, 'shared')
          const { content: list } = await writeChunkedContent(writer!, lock, split(bytes, [65_536]))
          await lock.renew()
          await scheduler.wait(0)
          committed.push(list)
          return 'pushed'
        }
        const lists = async function* (): AsyncGenerator<ListedContent> {
          await scheduler.wait(1)
          yield* committed
        }
        const collect = async (): Promise<string> => {
          const { removed } = await collectGarbage(collector!, lists, grace)
          return `${removed} removed`
        }
        const ends = await Promise.all([
          push()
            .catch(refused)
            .finally(() => scheduler.end(0)),
          collect()
            .catch(refused)
            .finally(() => scheduler.end(1)),
        ])
        outcomes.add(ends.join(', '))
        for (const list of committed)
          expect(
            (await bytesOf(readChunkedContent(createChunkFetcher(createStoredChunkReader(provider)), list))).equals(
              bytes,
            ),
          ).toBe(true)
      }),
      { numRuns: 250, examples: [[[60]], [[0, 60]], [[4, 60]], [[0, 6, 60]], [[0, 2, ...Array(18).fill(1)]]] },
    )
    // All that can happen has happened: one after the other, one of both refused, and both stepping back.
    expect([...outcomes].sort()).toEqual([
      'pushed, 0 removed',
      'pushed, 2 removed',
      'pushed, refused',
      'refused, 2 removed',
      'refused, refused',
    ])
  })
})
