import { afterEach, expect, test, vi } from 'vitest'
import { lockMilliseconds, slackMilliseconds, acquireRepositoryLock } from '#lib/packs/chunk-store/repository-lock.ts'
import { createMemoryProvider } from '../../lib/packs/chunk-store/memory-provider.ts'

afterEach(() => void vi.useRealTimers())

const year = 365 * 86_400_000
const path = (end: number): string => `chunks/holds/sweep-${crypto.randomUUID()}-${end}`

test('the lock of a killed host whose clock was years ahead does not lock out others for years', async () => {
  vi.useFakeTimers({ toFake: ['Date'] })
  const provider = createMemoryProvider()
  const left = path(Date.now() + year)
  await provider.write(left, { size: 0, read: () => new Blob().stream() })
  await expect(acquireRepositoryLock(provider, 'shared')).rejects.toMatchObject({ fault: 'conflict' })
  vi.setSystemTime(Date.now() + lockMilliseconds + slackMilliseconds)
  await expect(acquireRepositoryLock(provider, 'shared')).rejects.toMatchObject({ fault: 'conflict' })
  vi.setSystemTime(Date.now() + slackMilliseconds + 1)
  await using _ = await acquireRepositoryLock(provider, 'shared')
  expect(provider.objects.has(left)).toBe(false)
})

test('a lock is renewed on a host whose clock is set back', async () => {
  vi.useFakeTimers({ toFake: ['Date', 'performance'] })
  const provider = createMemoryProvider()
  await using lock = await acquireRepositoryLock(provider, 'shared')
  const [first] = [...provider.objects.keys()]
  vi.advanceTimersByTime(lockMilliseconds / 2 + 1)
  vi.setSystemTime(Date.now() - year)
  await lock.renew()
  expect([...provider.objects.keys()]).toEqual([first, expect.not.stringMatching(first!)])
  vi.advanceTimersByTime(lockMilliseconds)
  vi.setSystemTime(Date.now() - year)
  await expect(lock.renew()).rejects.toMatchObject({ fault: 'conflict' })
})
