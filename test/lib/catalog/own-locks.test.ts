import { afterEach, describe, expect, test, vi } from 'vitest'
import {
  holdMilliseconds,
  lateMilliseconds,
  slackMilliseconds,
  takeHold,
} from '#lib/packs/chunk-store/repository-lock.ts'
import { openOwnLocks } from '#lib/catalog/own-locks.ts'
import type { OwnHolds } from '#lib/packs/chunk-store/own-locks.ts'
import { openStore } from '#lib/storage/open-store.ts'
import { newFolder } from '../../support/folder.ts'
import { createMemoryProvider } from '../packs/chunk-store/memory-provider.ts'

const conflict = expect.objectContaining({ fault: 'conflict' })

/** Runs work as a process of the service with its state in a folder, and ends without clean-up, like a kill. */
const inProcess = async (folder: string, work: (own: OwnHolds) => Promise<void>): Promise<void> => {
  await using store = await openStore({ folder })
  await work(await openOwnLocks(store, Date.now() - slackMilliseconds))
}

describe('a repository lock of a killed process', () => {
  afterEach(() => void vi.useRealTimers())

  test('is stale for the same service after its restart, and valid for others', async () => {
    using mine = newFolder()
    using others = newFolder()
    const provider = createMemoryProvider()
    await inProcess(mine.path, async own => void (await takeHold(provider, 'write', undefined, own)))
    expect(provider.objects.size).toBe(1)
    await inProcess(others.path, async own => {
      await expect(takeHold(provider, 'sweep', undefined, own)).rejects.toThrow(conflict)
    })
    await inProcess(mine.path, async own => {
      await using sweep = await takeHold(provider, 'sweep', undefined, own)
      await sweep.renew()
      expect(provider.objects.size).toBe(1)
    })
    expect(provider.objects.size).toBe(0)
  })

  test('is valid while the process runs, also for itself', async () => {
    using folder = newFolder()
    const provider = createMemoryProvider()
    await inProcess(folder.path, async own => {
      await using _ = await takeHold(provider, 'write', undefined, own)
      await expect(takeHold(provider, 'sweep', undefined, own)).rejects.toThrow(conflict)
    })
  })

  test('of a garbage collection stays valid until its last deletion must have been executed', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    using folder = newFolder()
    const provider = createMemoryProvider()
    await inProcess(folder.path, async own => void (await takeHold(provider, 'sweep', undefined, own)))
    await inProcess(folder.path, async own => {
      await expect(takeHold(provider, 'write', undefined, own)).rejects.toThrow(conflict)
      vi.setSystemTime(Date.now() + lateMilliseconds + 1)
      await using write = await takeHold(provider, 'write', undefined, own)
      await write.renew()
      expect(provider.objects.size).toBe(1)
    })
  })

  test('is removed from the records when it ends or expires', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    using folder = newFolder()
    let id = ''
    const provider = createMemoryProvider(async what => {
      id = /(?<=write-)[0-9a-f-]{36}/.exec(what)?.[0] ?? id
    })
    const deadNow = async (): Promise<boolean> => {
      let dead = false
      await inProcess(folder.path, async own => void (dead = own.deadSince(id) !== undefined))
      return dead
    }
    await inProcess(folder.path, async own => {
      await using hold = await takeHold(provider, 'write', undefined, own)
      vi.setSystemTime(Date.now() + holdMilliseconds - 1)
      await hold.renew()
    })
    expect(id).not.toBe('')
    expect(await deadNow()).toBe(false)

    await inProcess(folder.path, async own => void (await takeHold(provider, 'write', undefined, own)))
    expect(await deadNow()).toBe(true)
    // A copy of the state does not have the lock that the first process still holds.
    vi.setSystemTime(Date.now() + holdMilliseconds + slackMilliseconds + 1)
    expect(await deadNow()).toBe(false)
  })
})
