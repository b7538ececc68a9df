import { afterEach, describe, expect, test, vi } from 'vitest'
import {
  lockMilliseconds,
  lateRequestMilliseconds,
  slackMilliseconds,
  acquireRepositoryLock,
} from '#lib/packs/chunk-store/repository-lock.ts'
import { openOwnLocks } from '#lib/catalog/own-locks.ts'
import type { OwnLocks } from '#lib/packs/chunk-store/own-locks.ts'
import { openStore } from '#lib/storage/open-store.ts'
import { newFolder } from '../../support/folder.ts'
import { createMemoryProvider } from '../packs/chunk-store/memory-provider.ts'

const conflict = expect.objectContaining({ fault: 'conflict' })

/** Does something as a process of the service whose state is in a folder, and ends as one that is killed. */
const inProcess = async (folder: string, work: (own: OwnLocks) => Promise<void>): Promise<void> => {
  await using store = await openStore({ folder })
  await work(await openOwnLocks(store, Date.now() - slackMilliseconds))
}

describe('the lock of a process that was killed', () => {
  afterEach(() => void vi.useRealTimers())

  test('is none for the same service when it has started again, and is one for others', async () => {
    using mine = newFolder()
    using others = newFolder()
    const provider = createMemoryProvider()
    await inProcess(mine.path, async own => void (await acquireRepositoryLock(provider, 'shared', undefined, own)))
    expect(provider.objects.size).toBe(1)
    await inProcess(others.path, async own => {
      await expect(acquireRepositoryLock(provider, 'exclusive', undefined, own)).rejects.toThrow(conflict)
    })
    await inProcess(mine.path, async own => {
      await using sweep = await acquireRepositoryLock(provider, 'exclusive', undefined, own)
      await sweep.renew()
      expect(provider.objects.size).toBe(1)
    })
    expect(provider.objects.size).toBe(0)
  })

  test('is one as long as the process runs, also for itself', async () => {
    using folder = newFolder()
    const provider = createMemoryProvider()
    await inProcess(folder.path, async own => {
      await using _ = await acquireRepositoryLock(provider, 'shared', undefined, own)
      await expect(acquireRepositoryLock(provider, 'exclusive', undefined, own)).rejects.toThrow(conflict)
    })
  })

  test('that removed chunks is heeded until what it asked for last has been done', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    using folder = newFolder()
    const provider = createMemoryProvider()
    await inProcess(folder.path, async own => void (await acquireRepositoryLock(provider, 'exclusive', undefined, own)))
    await inProcess(folder.path, async own => {
      await expect(acquireRepositoryLock(provider, 'shared', undefined, own)).rejects.toThrow(conflict)
      vi.setSystemTime(Date.now() + lateRequestMilliseconds + 1)
      await using write = await acquireRepositoryLock(provider, 'shared', undefined, own)
      await write.renew()
      expect(provider.objects.size).toBe(1)
    })
  })

  test('is forgotten with its end, and when nobody heeds it any more', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    using folder = newFolder()
    let id = ''
    const provider = createMemoryProvider(async what => {
      id = /(?<=write-)[0-9a-f-]{36}/.exec(what)?.[0] ?? id
    })
    const deadNow = async (): Promise<boolean> => {
      let dead = false
      await inProcess(folder.path, async own => void (dead = own.getStaleSince(id) !== undefined))
      return dead
    }
    await inProcess(folder.path, async own => {
      await using lock = await acquireRepositoryLock(provider, 'shared', undefined, own)
      vi.setSystemTime(Date.now() + lockMilliseconds - 1)
      await lock.renew()
    })
    expect(id).not.toBe('')
    expect(await deadNow()).toBe(false)

    await inProcess(folder.path, async own => void (await acquireRepositoryLock(provider, 'shared', undefined, own)))
    expect(await deadNow()).toBe(true)
    // A copy of the state that was made meanwhile knows nothing of a hold that the first goes on with.
    vi.setSystemTime(Date.now() + lockMilliseconds + slackMilliseconds + 1)
    expect(await deadNow()).toBe(false)
  })
})
