import { afterEach, expect, test, vi } from 'vitest'
import { changeManifest } from '#lib/catalog/changes.ts'
import { removeManifests } from '#lib/catalog/removal.ts'
import { noChange, openProviderCatalog } from '../../support/provider-catalog.ts'

const silent = (signal: AbortSignal | undefined): Promise<never> =>
  new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason)))

afterEach(() => void vi.useRealTimers())

test('a provider that never answers has ten minutes for a change and a deletion, and then others have their turn', async () => {
  const { catalog, call } = await openProviderCatalog({ stat: (_, signal) => silent(signal) })
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const isLate = { fault: 'timeout', message: expect.stringContaining('within 10 minutes') }
  const ended = Promise.all([
    expect(changeManifest(catalog, call, noChange)).rejects.toMatchObject(isLate),
    expect(removeManifests(catalog, call.caller, call.reference, { ...call, cleanRemote: true })).rejects.toMatchObject(
      isLate,
    ),
  ])
  for (let minute = 0; minute < 21; minute += 1) await vi.advanceTimersByTimeAsync(60_000)
  await ended
})
