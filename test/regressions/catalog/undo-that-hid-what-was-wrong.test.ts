import { afterEach, expect, test, vi } from 'vitest'
import { undoAfterFailure } from '#lib/catalog/undo.ts'
import { ServiceError } from '#lib/errors.ts'

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
