import { afterEach, expect, test, vi } from 'vitest'
import { undoAfter } from '#lib/catalog/undo.ts'
import { ServiceError } from '#lib/errors.ts'

afterEach(() => void vi.useRealTimers())

const wrong = new ServiceError('precondition-failed', 'The manifest was changed.')

test('an undo that succeeds keeps the error', async () => {
  expect(await undoAfter(wrong, async () => {})).toBe(wrong)
})

test('an undo that fails adds its message to the error', async () => {
  const told = await undoAfter(wrong, async () => {
    throw new ServiceError('upstream', 'The storage is away.')
  })
  expect(told).toMatchObject({
    fault: 'precondition-failed',
    message: 'The manifest was changed. What was written to the provider could not be taken back: The storage is away.',
  })
})

test('an undo that never ends is aborted', async () => {
  vi.useFakeTimers()
  let signal: AbortSignal | undefined
  const told = undoAfter(wrong, given => {
    signal = given
    return new Promise(() => {})
  })
  await vi.advanceTimersByTimeAsync(60_000)
  expect(await told).toMatchObject({ fault: 'precondition-failed' })
  expect(signal!.aborted).toBe(true)
})
