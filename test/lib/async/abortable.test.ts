import { getEventListeners } from 'node:events'
import { expect, test } from 'vitest'
import { abortable } from '#lib/async/abortable.ts'

const never = new Promise<never>(() => {})

test('abortable settles as its promise does, and leaves no listener on the signal', async () => {
  const { signal } = new AbortController()
  expect(await abortable(Promise.resolve(7), signal)).toBe(7)
  await expect(abortable(Promise.reject(new Error('failed')), signal)).rejects.toThrow('failed')
  expect(getEventListeners(signal, 'abort')).toEqual([])
  expect(await abortable(Promise.resolve(7), undefined)).toBe(7)
})

test('abortable rejects when the signal is aborted, also when it was aborted before the call', async () => {
  const controller = new AbortController()
  const waiting = abortable(never, controller.signal)
  controller.abort(new Error('enough'))
  await expect(waiting).rejects.toThrow('enough')
  await expect(abortable(never, controller.signal)).rejects.toThrow('enough')
  expect(getEventListeners(controller.signal, 'abort')).toEqual([])
})
