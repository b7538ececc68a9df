import { afterEach, expect, test, vi } from 'vitest'
import { changeManifest } from '#lib/catalog/changes.ts'
import { undoAfterFailure } from '#lib/catalog/undo.ts'
import { ServiceError } from '#lib/errors.ts'
import { noChange, openProviderCatalog } from '../../support/provider-catalog.ts'

afterEach(() => void vi.useRealTimers())

const wrong = new ServiceError('precondition-failed', 'The manifest was changed.')

test('a successful undo does not change the error', async () => {
  expect(await undoAfterFailure(wrong, async () => {})).toBe(wrong)
})

test('a failed undo is added to the message of the error', async () => {
  const told = await undoAfterFailure(wrong, async () => {
    throw new ServiceError('upstream', 'The storage is away.')
  })
  expect(told).toMatchObject({
    fault: 'precondition-failed',
    message: 'The manifest was changed. What was written to the provider could not be taken back: The storage is away.',
  })
})

test('an undo that takes too long is aborted', async () => {
  vi.useFakeTimers()
  let signal: AbortSignal | undefined
  const told = undoAfterFailure(wrong, given => {
    signal = given
    return new Promise(() => {})
  })
  await vi.advanceTimersByTimeAsync(60_000)
  expect(await told).toMatchObject({ fault: 'precondition-failed' })
  expect(signal!.aborted).toBe(true)
})

test('a change that cannot be stored and not be taken back either fails with the first reason', async () => {
  const { catalog, call } = await openProviderCatalog({
    stat: async () => undefined,
    write: async () => {},
    async remove() {
      throw new ServiceError('upstream', 'The storage is away.')
    },
  })
  const update = async (): Promise<never> => {
    throw wrong
  }
  const changed = changeManifest({ ...catalog, manifests: { ...catalog.manifests, update } }, call, noChange)
  await expect(changed).rejects.toMatchObject({
    fault: 'precondition-failed',
    message: expect.stringMatching(/^The manifest was changed\. .*could not be taken back: The storage is away\.$/),
  })
})
